"""By which names the commits, attempts and processes of a phase loop are known, so that a killed run finds its own."""

from __future__ import annotations

import calendar
import os
import time
from hashlib import sha256

from aotloop.core.phases.model import PhaseLoop


def run_id_of(loop: PhaseLoop, path: str) -> str:
    """The same for as long as the loop lives, and another one for the next loop of the same file."""
    named = f"{loop.started_at}\0{os.path.realpath(path)}\0{loop.feature}"
    return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def epoch_of(loop: PhaseLoop) -> int:
    """Of one stay in a phase: what an earlier stay left undone is not taken up in a later one."""
    try:
        return calendar.timegm(time.strptime((loop.phase_started_at or loop.started_at)[:19], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return 0
