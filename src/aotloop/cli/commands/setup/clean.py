"""`aot clean`: it removes what runs left on the machine."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from aotloop.app.clean import CleanedUp, clean_up
from aotloop.app.loops import open_store
from aotloop.app.ship.cancel import kill_abandoned
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import report_done
from aotloop.config.sources import load
from aotloop.errors import StateFileError, StateFileMissing
from aotloop.phases.project import Project
from aotloop.statefile.locate import PHASE_FILE, STATE_FILE, find_phase_file, project_root
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.statefile.store import Store
from aotloop.text.phrases import counted
from aotloop.text.sanitize import prose


@click.command(
    "clean",
    epilog="""\b
Examples:
  aot clean
  aot clean --journals
  aot clean --json
""",
)
@state_file_option
@json_option
@click.option("--journals", is_flag=True, help="Also remove .aot: the prompts and the output of agents.")
def command(state_file: str | None, as_json: bool, journals: bool) -> None:
    """Remove what runs left: attempts kept under refs/aot/, worktrees, and processes of a dead run.

    Worktrees that agents of a session left in .claude/worktrees are removed too, unless they have work in them.
    The state file and merged work stay as they are. Nothing is removed while a process runs the loop.
    """
    store = _store(state_file)
    _end_abandoned(store)
    cleaned = clean_up(store, load(Path(project_root(store.path))), journals=journals)
    report_done(as_json=as_json, data=_data(cleaned), message=prose(_in_words(cleaned)), steps=["aot status"])


def _store(state_file: str | None) -> Store:
    """The store of the loop; without a loop, the place where it would be, if a feature is under way."""
    try:
        return open_store(state_file)
    except StateFileMissing:
        if state_file is not None:
            raise
        with suppress(StateFileMissing):
            return Store(str(Path(project_root(find_phase_file()), STATE_FILE)))
        raise


def _end_abandoned(store: Store) -> None:
    """Ends processes of a feature whose run died; a feature that is still driven is left alone."""
    features = PhaseStore(str(Path(project_root(store.path), PHASE_FILE)))
    with suppress(StateFileError):
        kill_abandoned(Project(features), features.load())


def _data(cleaned: CleanedUp) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(cleaned)
    return data if cleaned.unkept else {name: value for name, value in data.items() if name != "unkept"}


def _in_words(cleaned: CleanedUp) -> str:
    removed = [
        *([counted(len(cleaned.refs), "kept attempt")] if cleaned.refs else []),
        *([counted(len(cleaned.worktrees), "worktree")] if cleaned.worktrees else []),
        *(["the journals"] if cleaned.journals else []),
    ]
    parts = [f"removed {', '.join(removed)}"] if removed else []
    parts += ["ended processes of a dead run"] if cleaned.orphans else []
    if cleaned.in_use:
        parts.append(f"another loop of this repository is running, so its files stay: {', '.join(cleaned.in_use)}")
    if cleaned.unkept:
        parts.append(
            f"these worktrees of agents have work that is not on the branch, so they stay: {', '.join(cleaned.unkept)}"
            " (`git worktree remove --force` removes one)"
        )
    return "; ".join(parts) or "nothing to clean"
