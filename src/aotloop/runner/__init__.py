"""The driver that does the work: agents in worktrees, merges, checks; asyncio around a pure conductor."""
