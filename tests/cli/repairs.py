"""Repairs for which patience is at its end, or nearly so."""

from __future__ import annotations

from typing import Any

from aotloop.core.model import Atom, Constraints
from aotloop.core.policy.turns import patience
from tests.loops import a_loop, atom

LIMITS = Constraints(max_total_attempts=40)
"""Patience is a share of all attempts: with these, it is the same however many atoms a loop has."""

PATIENT = patience(a_loop(atom("A1"), constraints=LIMITS))
"""Failures that are allowed in a loop with `LIMITS` in which nothing has been resolved yet."""


def worn_out(atom_id: str, left: int = 0, **more: Any) -> Atom:
    """In a loop with `LIMITS`; `left`: failures that are still allowed."""
    failures = PATIENT - left
    return atom(atom_id, repairs="it works", attempts=failures, failures=failures, **more)
