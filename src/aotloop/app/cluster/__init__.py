"""Attempts on other machines: the workers, a cluster for trying it out, and whether a run uses it."""
