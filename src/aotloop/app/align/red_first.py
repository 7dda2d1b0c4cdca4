"""Red first: the base case is run before it is agreed on, so what already holds, and may prove nothing, is seen."""

from __future__ import annotations

from pathlib import Path

from aotloop.checks.evaluation import Progress, evaluate
from aotloop.checks.results import Report
from aotloop.core.checklist import base_case_tree
from aotloop.core.model import Objective


def run_base_case(objective: Objective, root: Path, *, timeout: float, on_progress: Progress | None = None) -> Report:
    """Only what a program can decide: there is nothing to judge before the work begins."""
    return evaluate(base_case_tree(objective.base_case), root=root, timeout=timeout, on_progress=on_progress)
