"""The same hook events for a session that ships a feature."""
