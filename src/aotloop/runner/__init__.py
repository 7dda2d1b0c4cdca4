"""The driver of a run: agents in worktrees, merges, checks; asyncio around the pure scheduler."""
