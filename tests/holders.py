"""Processes that hold a lease, as a run or a dialogue does; they live until they are told, or killed, or obey."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOLD = """
import sys, time
from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.statefile.lease import lease
from aotloop.statefile.store import Store

path, role, obeys = sys.argv[1:]
store = Store(path)

def stop_if_asked(loop):
    if not loop.control.stop_requested:
        return False
    for atom in [one for one in loop.atoms if one.status == "in_progress"]:
        advance(loop, events.AtomAbandoned(atom=atom.id))
    advance(loop, events.LoopStopped(reason=f"user: {loop.control.stop_reason or 'stop requested'}"))
    return True

with lease(path, role, since="2026-01-01T00:00:00Z"):
    print("held", flush=True)
    while not (obeys == "obeys" and store.load().control.stop_requested and store.update(stop_if_asked)):
        time.sleep(0.02)
"""


@contextmanager
def held_by_another(path: Path, role: str = "run", *, obeys: bool = False) -> Iterator[subprocess.Popen[str]]:
    """`obeys`: it stops the loop when that is requested, and ends; else nothing but a signal ends it."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path), role, "obeys" if obeys else "ignores"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()
