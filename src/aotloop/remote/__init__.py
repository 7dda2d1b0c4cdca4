"""Attempts on other machines, over Temporal: the runner's side, the worker's side, and what travels between them."""
