"""Importers: task lists, PRDs and tasks of other tools are read as one kind of plan. Nothing here does I/O.

Acceptance criteria and test strategies stay words: no imported text becomes a command.
"""
