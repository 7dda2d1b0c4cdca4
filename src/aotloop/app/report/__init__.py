"""A report of a loop for people who were not there: one file that opens anywhere, or text for a pull request."""
