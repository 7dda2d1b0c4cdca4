"""Phrases for people: lists, numbers with their nouns, money, durations, and the word that was meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LONGEST_DURATION = 1e9
"""Seconds. A file may contain any number, but no run takes thirty years."""

MOST_LISTED = 8


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


def ago(seconds: float) -> str:
    """As `lasting`, with the largest unit only: 8s ago, 4m ago."""
    return f"{lasting(seconds).partition(' ')[0]} ago"


def lasting(seconds: float) -> str:
    """8s, 4m 12s, 2h 03m, 3d 04h."""
    whole = int(seconds) if 0 <= seconds <= LONGEST_DURATION else 0
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    if days:
        return f"{days}d {hours_left:02}h"
    if hours:
        return f"{hours}h {minutes_left:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def nearest(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The known word that a person most likely meant; upper and lower case do not matter."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, needed only after a typing mistake

    lower = {name.lower(): name for name in reversed(list(known))}
    near = get_close_matches(word.lower(), lower, n=1, cutoff=likeness)
    return lower[near[0]] if near else None


_CHANGED = {
    "objective_change": "objective",
    "dag_adjustment": "graph",
    "constraint_change": "limits",
    "bindings_override": "results",
}


def corrected(kind: str, description: str) -> str:
    """`kind`: the type of a correction in a state file."""
    return f"{_CHANGED.get(kind, kind)} changed: {description}"
