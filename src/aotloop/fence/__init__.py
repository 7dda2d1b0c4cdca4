"""The fence: what agents, checks and tests may change, and the folder that is open to each of them."""
