"""Variants of JSON with one value replaced by an unexpected one; each value in turn, each surprise in turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_MARK = "\x00here\x00"
SURPRISES = (
    "null", "true", "-1", "0", "1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 400, "1.5", '""', '"x"', "[]", "{}",
    '[["x"]]', '{"a": {"b": 1}}', '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"../../etc/passwd"', '"$(touch x)"',
    '"' + "a" * 5000 + '"', "[" * 60 + "]" * 60, '"retry after 9999999999999999999999999999 d"',
    '"try again in ' + "9" * 400 + ' s"',
)  # fmt: skip
"""As they are written: not all of them are valid JSON, and clients print all of them."""


def variants(value: Any) -> Iterator[bytes]:
    """Variants of one object; objects with a type keep it, else the rest would not be read."""
    for path in _paths(value):
        text = json.dumps(_with(value, path))
        for surprise in SURPRISES:
            yield text.replace(json.dumps(_MARK), surprise).encode()


def _paths(value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if above:
        yield above
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in children:
        yield from _paths(inner, (*above, key))


def _with(value: Any, path: tuple[str | int, ...]) -> Any:
    if not path:
        return _MARK
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:])
    return copy
