"""What is reported has only text that a file can hold; names of files may have bytes that are no text."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)

_encode = msgspec.json.Encoder().encode


def legible(value: S) -> S:
    """The value itself, if there is nothing in it that no file can hold; else with that shown as escapes."""
    try:
        _encode(value)  # nearly always there is nothing, and this is far faster than to look at every field
    except (ValueError, TypeError, OverflowError):
        return _with_escapes(value)
    return value


def _with_escapes(value: S) -> S:
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    changed = {name: shown for name, field in fields.items() if (shown := _shown(field)) is not field}
    return msgspec.structs.replace(value, **changed) if changed else value


def _shown(value: Any) -> Any:
    match value:
        case str():
            return value if _is_text(value) else value.encode("utf-8", "backslashreplace").decode()
        case msgspec.Struct():
            return _with_escapes(value)
        case tuple():
            shown = tuple(map(_shown, value))
            return value if all(one is other for one, other in zip(shown, value, strict=True)) else shown
        case dict():
            pairs = {_shown(key): _shown(one) for key, one in value.items()}
            return value if all(pairs.get(key) is one for key, one in value.items()) else pairs
    return value


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
