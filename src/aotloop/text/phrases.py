"""Phrases for people: lists, numbers with their nouns, and money."""

from __future__ import annotations

from collections.abc import Sequence

MOST_LISTED = 5


def listed(names: Sequence[str], most: int = MOST_LISTED, *, separator: str = ", ") -> str:
    """a, b, c and 7 more."""
    shown = separator.join(names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def counted(number: int, noun: str) -> str:
    """1 atom, 1,000 atoms."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def dollars(amount: float) -> str:
    """$1,234.50"""
    return f"${amount:,.2f}"
