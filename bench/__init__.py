"""Measured ratios. Each row compares us with something bare, on the same data, in one run; times alone say little."""
