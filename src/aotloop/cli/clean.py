"""`aot clean`: removes what runs left on the machine."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from aotloop import app
from aotloop.cli.foreign import prose
from aotloop.cli.options import json_option, state_file_option
from aotloop.cli.output import counted, report_done
from aotloop.errors import StateFileError, StateFileMissing
from aotloop.statefile.locate import PHASE_FILE, STATE_FILE, find_phase_file, project_root
from aotloop.statefile.store import Store

if TYPE_CHECKING:
    from aotloop.launch.cleaning import CleanedUp


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
@click.option("--journals", is_flag=True, help="Also remove .aot: what agents were told, and what they printed.")
def command(state_file: str | None, as_json: bool, journals: bool) -> None:
    """Remove what runs left: attempts kept under refs/aot/, worktrees, and processes of a run that died.

    The state file, and what reached the branch, stay as they are. While somebody runs the loop, nothing is removed.
    """
    from aotloop.config import load  # noqa: PLC0415 - help needs none of this
    from aotloop.launch.cleaning import clean_up  # noqa: PLC0415

    store = _store(state_file)
    _end_abandoned(store)
    cleaned = clean_up(store, load(Path(project_root(store.path))), journals=journals)
    report_done(
        as_json=as_json, data=msgspec.to_builtins(cleaned), said=prose(_in_words(cleaned)), steps=["aot status"]
    )


def _store(state_file: str | None) -> Store:
    """Of the loop; or where one would be, if there is only a feature on its way."""
    try:
        return app.open_store(state_file)
    except StateFileMissing:
        if state_file is not None:
            raise
        return Store(str(Path(project_root(find_phase_file()), STATE_FILE)))


def _end_abandoned(store: Store) -> None:
    """Of a feature whose run died; what somebody drives is left alone."""
    from aotloop.phases.ground import Ground  # noqa: PLC0415
    from aotloop.shipping.abandoned import kill_abandoned  # noqa: PLC0415
    from aotloop.statefile.phase_store import PhaseStore  # noqa: PLC0415

    features = PhaseStore(str(Path(project_root(store.path), PHASE_FILE)))
    with suppress(StateFileError):
        kill_abandoned(Ground(features), features.load())


def _in_words(cleaned: CleanedUp) -> str:
    removed = [
        *([counted(len(cleaned.refs), "kept attempt")] if cleaned.refs else []),
        *([counted(len(cleaned.worktrees), "worktree")] if cleaned.worktrees else []),
        *(["the journals"] if cleaned.journals else []),
    ]
    said = [f"removed {', '.join(removed)}"] if removed else []
    said += ["ended processes of a run that had died"] if cleaned.orphans else []
    if cleaned.in_use:
        said.append(f"another loop of this repository is being run, so what it uses stays: {', '.join(cleaned.in_use)}")
    return "; ".join(said) or "nothing to clean"
