"""When a feature is given up, the loop of its work is asked to stop: it would go on for nothing."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.statefile.locate import STATE_FILE, project_root
from aotloop.statefile.store import Store


def ask_to_stop(phase_file: str, feature: PhaseLoop, *, patience: float = 2.0) -> bool:
    """Whether there was one, in the hands of the same session. What cannot be asked is left as it is."""
    path = Path(project_root(phase_file), STATE_FILE)
    if feature.session_id is None or not path.is_file():
        return False

    def change(loop: Loop) -> bool:
        control = loop.control
        is_its_work = loop.objective.goal == feature.feature and control.session_id == feature.session_id
        if not is_its_work or control.status != "running":
            return False
        advance(loop, events.StopRequested(reason="the feature was given up"))
        return True

    with suppress(AotError):
        return Store(str(path), patience=patience).update(change)
    return False
