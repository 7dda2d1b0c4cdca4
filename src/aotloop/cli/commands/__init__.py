"""One module for each command: it parses, calls a use case, and prints."""
