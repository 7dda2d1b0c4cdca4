"""What people already have (task lists, PRDs, tasks of other tools) is read as one kind of plan. Nothing here does I/O.

Acceptance criteria and test strategies stay words: nothing that is imported becomes a command.
"""
