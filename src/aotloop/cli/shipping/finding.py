"""Which loop a command is about, and whether it may be told anything now."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.errors import NotTrusted, StateFileBusy
from aotloop.phases.ground import Ground
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import find_phase_file, project_root
from aotloop.statefile.phase_store import PhaseStore


def ground_here() -> Ground:
    """With what the project's configuration says about shipping."""
    from aotloop.config import load  # noqa: PLC0415 - the rest of the program needs none of it

    path = find_phase_file()
    return Ground(PhaseStore(path), load(Path(project_root(path))).ship)


def refuse_agents(what: str) -> None:
    """An attempt of a loop has the person's rights, and is not the person."""
    if os.environ.get("AOT_RUN_ID"):
        raise NotTrusted(
            f"this is an attempt of a loop, and only a person {what}", hint="Run it from a terminal of your own."
        )


def refuse_while_run(ground: Ground) -> None:
    holder = holder_of(ground.store.path)
    if holder is not None:
        raise StateFileBusy(
            f"{holder.name} runs this loop, and it alone says what becomes of its phases",
            hint="`aot ship status` shows it, `aot ship stop` ends it.",
        )
