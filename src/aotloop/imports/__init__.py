"""What people already have (task lists, PRDs, tasks of other tools) is read as one kind of plan. Nothing here does I/O.

Acceptance criteria and test strategies stay words: nothing that is imported becomes a command.
"""

from aotloop.imports.formats import read_plan
from aotloop.imports.plan import Piece, Plan

__all__ = ["Piece", "Plan", "read_plan"]
