"""Checks as values: the tree of a checklist, the paths of its items, and the scores of quality."""
