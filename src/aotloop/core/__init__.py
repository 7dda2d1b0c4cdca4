"""The pure part: the state of a loop and the rules that change it. No I/O, no clock, no randomness."""
