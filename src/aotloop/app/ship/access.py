"""Which feature a command is about, and whether this process may decide about it now."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.errors import NotTrusted, StateFileBusy
from aotloop.phases.project import Project
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import find_phase_file, project_root
from aotloop.statefile.phases.phase_store import PhaseStore


def project_here() -> Project:
    """With the settings of the project's configuration."""
    from aotloop.config.sources import load  # noqa: PLC0415 - other commands start faster without it

    path = find_phase_file()
    return Project(PhaseStore(path), load(Path(project_root(path))).ship)


def is_attempt() -> bool:
    """Whether an attempt of a loop has started this process. It has the rights of the person, but is not the person."""
    return bool(os.environ.get("AOT_RUN_ID"))


def refuse_agents(what: str) -> None:
    if is_attempt():
        raise NotTrusted(
            f"this is an attempt of a loop, and only a person {what}", hint="Run the command in your own terminal."
        )


def refuse_while_run(project: Project) -> None:
    holder = holder_of(project.store.path)
    if holder is not None:
        raise StateFileBusy(
            f"{holder.name} runs this loop, and it alone says what becomes of its phases",
            hint="`aot ship status` shows it, `aot ship stop` ends it.",
        )
