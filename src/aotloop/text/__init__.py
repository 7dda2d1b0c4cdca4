"""Text for people and for files: pure functions, used by every layer."""
