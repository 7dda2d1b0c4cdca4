"""Durations in words for a person."""

from __future__ import annotations

LONGEST = 1e9
"""Seconds. A file may contain any number, but no run takes thirty years."""


def ago(seconds: float) -> str:
    """As `lasting`, with the largest unit only: 8s ago, 4m ago."""
    return f"{lasting(seconds).partition(' ')[0]} ago"


def lasting(seconds: float) -> str:
    """8s, 4m 12s, 2h 03m, 3d 04h."""
    whole = int(seconds) if 0 <= seconds <= LONGEST else 0
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    if days:
        return f"{days}d {hours_left:02}h"
    if hours:
        return f"{hours}h {minutes_left:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"
