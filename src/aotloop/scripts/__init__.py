"""The scripts an agent calls in a session: arguments in, one JSON object out. No logic but that translation."""
