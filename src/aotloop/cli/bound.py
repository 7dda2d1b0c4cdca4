"""How many attempts can still be made, at most: in words for a person, and in numbers for a program."""

from __future__ import annotations

from typing import Any

from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop


def bound_of(loop: Loop) -> int:
    return 0 if loop.control.status == "completed" else attempts_left(loop)


def bound_in_words(bound: int) -> str:
    return f"at most {bound:,} more attempt{'' if bound == 1 else 's'}"


def bound_as_data(bound: int) -> dict[str, Any]:
    return {"attempts_left_at_most": bound}
