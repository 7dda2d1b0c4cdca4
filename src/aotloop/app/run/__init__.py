"""A loop is started, paused and stopped: where the run works, and how it begins and ends."""
