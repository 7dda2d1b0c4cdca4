"""The pure part: what a loop is and how it changes. No I/O, no clock, no randomness."""
