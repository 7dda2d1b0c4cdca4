"""Commands, files and checklists are evaluated here; every result carries its evidence.

Nothing is re-exported: whoever only reads results does not load what starts processes.
"""
