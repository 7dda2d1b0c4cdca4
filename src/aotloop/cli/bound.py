"""How many attempts can still be made, at most: in words for a person, and in numbers for a program."""

from __future__ import annotations

from typing import Any

from aotloop.core.limits import Limits
from aotloop.core.measure import attempts_left
from aotloop.core.model import Control, Loop


def bound_of(loop: Loop, limits: Limits | None = None) -> int:
    """`limits`: those in force, if they are not the file's."""
    return 0 if loop.control.status == "completed" else attempts_left(loop, limits)


def bound_in_words(bound: int) -> str:
    return f"at most {bound:,} more attempt{'' if bound == 1 else 's'}"


def effort_in_words(control: Control) -> str:
    """What was tried so far; and, once that says something, what a resolved atom needed of it."""
    made = f"{control.tried:,} attempt{'' if control.tried == 1 else 's'} so far"
    if control.won and control.needed > control.won:
        return f"{made}, {control.needed / control.won:.1f} for each resolved atom"
    return made


def bound_as_data(bound: int) -> dict[str, Any]:
    return {"attempts_left_at_most": bound}
