"""Repairs for which patience is at its end, or nearly so."""

from __future__ import annotations

from typing import Any

from aotloop.core.model import Atom
from aotloop.core.turns import patience
from tests.loops import a_loop, atom

PATIENT = patience(a_loop(atom("A1")))
"""Failures that are allowed in a loop in which nothing has been resolved yet."""


def worn_out(atom_id: str, left: int = 0, **more: Any) -> Atom:
    """`left`: failures that are still allowed."""
    failures = PATIENT - left
    return atom(atom_id, repairs="it works", attempts=failures, failures=failures, **more)
