"""What is in an event, whatever is in it: another version of the client may have anything otherwise."""

from __future__ import annotations

from typing import Any


def part(value: Any, *path: str) -> dict[str, Any]:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def parts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """None, too, for what is no amount of anything: NaN, infinity, a number of hundreds of digits."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def count(value: Any) -> int:
    return int(number(value) or 0)
