"""State files: reading, examining, revising and durably replacing the file of a loop."""
