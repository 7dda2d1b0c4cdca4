"""Loops that a session drives, and what a client tells about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from aotloop.core.model import Atom, Constraints, Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.hooks.agent_stop import Circumstances, decide
from aotloop.hooks.answers import Answer
from aotloop.hooks.payload import COORDINATOR, Payload
from aotloop.trust.verdicts import keep_verdict
from tests.loops import a_loop, atom, write_loop

SESSION = "5f0c6e0e-7a9b-4d0c-9f55-0a1b2c3d4e5f"
COMMIT = "c" * 40
NOW = Circumstances(at="2026-01-01T00:00:00Z", commit=COMMIT)


def driven(*atoms: Atom, limits: Constraints | None = None, **more: Any) -> Loop:
    """A running loop, bound to our session; `more` of its control."""
    loop = a_loop(*(atoms or (atom("A1"),)), constraints=limits or Constraints())
    loop.control = replace(loop.control, **{"session_id": SESSION, **more})
    return loop


def lasted(loop: Loop, **more: Any) -> Loop:
    """So many attempts have ended in its generation that it is judged when it is looked at next; `more` of it."""
    generation = replace(loop.control.generation, **{"outcomes": 9, "least": 9, **more})
    loop.control = replace(loop.control, iteration=loop.control.iteration + 1, generation=generation)
    return loop


def judged(loop: Loop, *, passed: bool = False, failing: tuple[str, ...] = (), **more: Any) -> Loop:
    """With a verdict that is fresh, unless `more` says otherwise."""
    verdict = Verdict(
        passed=passed,
        failing=failing,
        **{"objective_digest": digest_of(loop.objective), "at": "then", "commit": COMMIT, **more},
    )
    loop.control = replace(loop.control, verdict=verdict)
    return loop


def coordinator(**more: Any) -> Payload:
    return Payload(**{"session_id": SESSION, "agent_type": COORDINATOR, "agent_id": "a1", **more})


def session(**more: Any) -> Payload:
    return Payload(**{"session_id": SESSION, **more})


def stopped(loop: Loop, payload: Payload | None = None, now: Circumstances = NOW) -> Answer:
    """What whoever coordinates is answered when it wants to end."""
    return decide(payload or coordinator(), loop, now)


def written_with_our_verdict(project: Path, loop: Loop) -> Path:
    """As if a program of ours had reached the verdict of the loop."""
    path = write_loop(project, loop)
    if loop.control.verdict is not None:
        keep_verdict(str(path), loop.control.verdict)
    return path
