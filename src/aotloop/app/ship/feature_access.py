"""Which feature a command is about, and whether this process may decide about it now."""

from __future__ import annotations

from pathlib import Path

from aotloop.errors import StateFileBusy
from aotloop.phases.project import Project
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import find_phase_file, project_root
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.trust import person


def project_here() -> Project:
    return project_of(find_phase_file())


def project_of(path: str) -> Project:
    """With the settings of the project's configuration."""
    from aotloop.config.sources import load  # noqa: PLC0415 - other commands start faster without it

    config = load(Path(project_root(path)))
    return Project(PhaseStore(path), config.ship, config.variables(), config.fence)


def refuse_agents(what: str) -> None:
    person.refuse_agents(f"only a person {what}")


def refuse_while_run(project: Project) -> None:
    holder = holder_of(project.store.path)
    if holder is not None:
        raise StateFileBusy(
            f"{holder.name} runs this loop, and only that process changes its phases",
            hint="`aot ship status` shows it, `aot ship stop` ends it.",
        )
