"""One attempt: its maker, its conversation, the files it starts from, and its result."""
