"""The same work for us and for what people would use instead, on one machine, in one run: `make bench-peers`."""
