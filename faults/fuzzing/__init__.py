"""Fuzzing of all foreign input: targets for a fuzzer that is guided by coverage, their seeds, their cases."""
