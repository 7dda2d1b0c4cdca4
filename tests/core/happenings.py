"""What happens to a loop between two generations, in short."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core.effects import Effect
from aotloop.core.events import (
    AtomDecomposed,
    AtomFailed,
    AtomResolved,
    AtomStarted,
    Child,
    GenerationEnded,
    VerdictReached,
)
from aotloop.core.machine import advance
from aotloop.core.model import Constraints, Loop, Verdict
from aotloop.core.objective import digest_of
from tests.loops import a_loop, atom

TOO_OFTEN = 999
"""Failures that bad luck does not explain."""


def too_often(loop: Loop) -> None:
    """All have failed more often than bad luck explains."""
    loop.atoms = [replace(one, failures=max(one.failures, TOO_OFTEN)) for one in loop.atoms]


def resolve(loop: Loop, atom_id: str) -> None:
    advance(loop, AtomStarted(atom=atom_id))
    advance(loop, AtomResolved(atom=atom_id, summary="done"))


def fail(loop: Loop, atom_id: str) -> None:
    advance(loop, AtomStarted(atom=atom_id))
    advance(loop, AtomFailed(atom=atom_id, reason="it broke", at="noon"))


def decompose(loop: Loop, parent: str, *parts: str) -> None:
    children = tuple(Child(description=one, atom=one) for one in parts)
    advance(loop, AtomDecomposed(parent=parent, children=children, reason="too much at once"))


def end(loop: Loop) -> list[Effect]:
    return advance(loop, GenerationEnded(at="noon"))


def stalls(loop: Loop) -> int:
    end(loop)
    return loop.control.stall_count


def judged(loop: Loop, *failing: str) -> None:
    verdict = Verdict(passed=not failing, objective_digest=digest_of(loop.objective), at="noon", failing=failing)
    advance(loop, VerdictReached(verdict=verdict))


def after_one(*atoms: Any, stall_count: int = 1, **limits: Any) -> Loop:
    """One generation has ended, with this many stalls counted so far; all fail more often than bad luck explains."""
    limits = {"max_attempts": 9, "max_stall_count": 9, **limits}
    loop = a_loop(*(atoms or (atom("A1"), atom("A2"), atom("A3"))), constraints=Constraints(**limits))
    end(loop)
    too_often(loop)
    loop.control = replace(loop.control, stall_count=stall_count)
    return loop
