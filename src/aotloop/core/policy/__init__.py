"""The policy of a loop: how long it tries, and why it stops. Turns, progress, reasons to stop."""
