"""Isolation: the folder in which a task is done, and the guard of the person's checkout."""
