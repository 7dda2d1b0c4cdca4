"""Text ⇄ model: reading, examining, revising and durably replacing a loop's state file."""
