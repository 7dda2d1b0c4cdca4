"""The same work for us and for the alternatives of a user, on one machine, in one run: `make bench-peers`."""
