"""Other words for a task that failed twice in the same words: what is said stays, the way of saying it changes.

For the models that were measured, wording decides more than repetition (docs/benchmarks-real.md). The
description itself stays as it is in every wording: names, signatures and examples of it are exact.
"""

from __future__ import annotations

import re

LONGEST_DESCRIPTION = 6000
"""Characters of the description in a prompt."""
SAME = 2
"""So many attempts get the description as a person wrote it."""

_STEPS = re.compile(r"(?<=[.;!?])\s+(?=\S)")
_MOST_STEPS = 20
_ORDER = "Handle special cases first, then the usual one."


def reworded(description: str, failures: int) -> str:
    """`failures`: earlier attempts at it that failed. After the last wording the first one comes again."""
    if failures < SAME:
        return description
    wording = (failures // SAME) % (len(WORDINGS) + 1)
    return description if wording == 0 else WORDINGS[wording - 1](description)


def _completed(description: str) -> str:
    return (
        "Write down the names and signatures that this asks for, exactly as they are given; then complete them so that"
        f" this holds:\n\n{description}"
    )


def _simplest(description: str) -> str:
    return f"I need this:\n\n{description}\n\nUse the simplest code that does it, with what is built in already."


def _in_points(description: str) -> str:
    steps = [step.strip() for step in _STEPS.split(description) if step.strip()]
    if not 1 < len(steps) <= _MOST_STEPS:
        return f"Requirements, all of which are checked:\n\n{description}\n\n{_ORDER}"
    points = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return f"Requirements, all of which are checked:\n{points}\n{_ORDER}"


WORDINGS = (_completed, _simplest, _in_points)
"""The wording that helped most when measured comes first."""
