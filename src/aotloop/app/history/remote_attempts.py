"""The attempts of a run that other machines make: where each is, what it said last, and what it has cost so far."""

from __future__ import annotations

from pathlib import Path

from aotloop.execution.journal import Journal
from aotloop.remote.whereabouts import Whereabouts, all_whereabouts
from aotloop.statefile.locate import project_root


def remote_attempts(state_file: str) -> dict[str, Whereabouts]:
    """By the names of their folders."""
    return all_whereabouts(Journal(Path(project_root(state_file))).folder / "attempts")
