"""Checks: commands, files and checklists are evaluated here, and every result has its evidence.

Nothing is re-exported, so that readers of results do not load the code that starts processes.
"""
