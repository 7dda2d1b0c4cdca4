"""How items of a checklist are called in verdicts: by the path of names that leads to them, each path once."""

from __future__ import annotations

from collections.abc import Sequence

SEPARATOR = " / "


def distinct(names: Sequence[str]) -> list[str]:
    """Siblings of the same name are told apart: "tests", "tests (2)"; so a path of names means one item."""
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
