"""Encodable values: text that files cannot store, such as bytes of file names, is shown as escapes."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)

_encode = msgspec.json.Encoder().encode


def encodable(value: S) -> S:
    """The value itself if a file can store it; otherwise a copy with escapes."""
    try:
        _encode(value)  # almost always enough, and far faster than examining every field
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
            return value if all(new is old for new, old in zip(shown, value, strict=True)) else shown
        case dict():
            pairs = {_shown(key): _shown(field) for key, field in value.items()}
            return value if all(pairs.get(key) is field for key, field in value.items()) else pairs
    return value


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
