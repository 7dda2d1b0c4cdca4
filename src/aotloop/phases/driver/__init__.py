"""The driver of the phase machine without a session: one turn after the other, each by an agent."""
