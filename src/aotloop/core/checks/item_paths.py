"""Paths of checklist items in verdicts: the names that lead to an item. Each path is unique."""

from __future__ import annotations

from collections.abc import Sequence

SEPARATOR = " / "


def distinct(names: Sequence[str]) -> list[str]:
    """Siblings with the same name get numbers: "tests", "tests (2)". So a path means exactly one item."""
    taken: set[str] = set()
    result = []
    for name in names:
        plain = name.replace(SEPARATOR, "/")
        candidate, number = plain, 2
        while candidate in taken:
            candidate, number = f"{plain} ({number})", number + 1
        taken.add(candidate)
        result.append(candidate)
    return result
