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
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def count(value: Any) -> int:
    found = number(value)
    return int(found) if found is not None and found < 2**53 else 0
