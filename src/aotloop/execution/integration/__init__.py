"""Integration: a result reaches the branch on which a person works."""
