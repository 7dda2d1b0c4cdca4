"""ship: the steps of shipping a feature in a session."""
