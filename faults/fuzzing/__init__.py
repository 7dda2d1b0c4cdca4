"""What others write is read, whatever it is: targets for a fuzzer that looks at coverage, their seeds, their cases."""
