"""The worktrees in which attempts work: made, prepared, used again, and removed."""
