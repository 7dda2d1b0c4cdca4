"""The emitter: values → YAML text. The text reads back as the same value in every YAML reader, 1.1 or 1.2.

Mappings are blocks; lists of plain values stay on one line. Text is plain only if no reader can take it for another
value; otherwise it is double-quoted with JSON's escapes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import astuple

from aotloop.core.model import Binding, CheckTerms, Constraints, Control, Loop, Objective, OrGroup, TrailEntry

ALWAYS_WRITTEN: dict[type, frozenset[str]] = {
    Loop: frozenset({"decompositions", "or_groups", "bindings", "trail", "corrections"}),
    Objective: frozenset({"constraints"}),
    Constraints: frozenset({"max_parallel_agents"}),
    Control: frozenset({"stop_reason"}),
    OrGroup: frozenset({"failed"}),
    Binding: frozenset({"artifacts"}),
    TrailEntry: frozenset({"or_group", "selected"}),
}
"""Keys that the schema requires in every file. All other optional keys are written only when they have a value."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[./-][A-Za-z0-9_]+)*")
_RESERVED = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"])
_UNPRINTABLE = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)}
_encode_json = msgspec.json.Encoder().encode


def to_data(value: Any) -> Any:
    """A struct as the plain data that is written for it; plain data is returned unchanged."""
    if isinstance(value, msgspec.Struct):
        return _struct_data(value)
    if isinstance(value, dict):
        return {str(key): to_data(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_data(inner) for inner in value]
    return value


def _struct_data(value: msgspec.Struct) -> dict[str, Any]:
    always = ALWAYS_WRITTEN.get(type(value), frozenset())
    data: dict[str, Any] = {}
    for name, default in _defaults(type(value)).items():
        inner = getattr(value, name)
        if name in always or default is msgspec.NODEFAULT or inner != default:
            data[name] = to_data(inner)
    if isinstance(value, CheckTerms) and "type" in data:
        return {"type": data.pop("type"), **data}
    return data


def differences(old: msgspec.Struct, new: msgspec.Struct) -> tuple[dict[str, Any], dict[str, Any]]:
    """The written data of two structs of the same type, without the keys that are equal in both."""
    always = ALWAYS_WRITTEN.get(type(new), frozenset())
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    values = zip(_defaults(type(new)).items(), astuple(old), astuple(new), strict=True)
    for (name, default), was, becomes in values:
        if was is becomes or was == becomes:
            continue
        for data, inner in ((before, was), (after, becomes)):
            if name in always or default is msgspec.NODEFAULT or inner != default:
                data[name] = to_data(inner)
    return before, after


@cache
def _defaults(struct: type[msgspec.Struct]) -> dict[str, Any]:
    names = struct.__struct_fields__
    defaults = struct.__struct_defaults__
    required = len(names) - len(defaults)
    resolved = [default.factory() if type(default).__name__ == "Factory" else default for default in defaults]
    return dict(zip(names, [msgspec.NODEFAULT] * required + resolved, strict=True))


def scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return text(value)
    return str(value)


def text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return _encode_json(value).decode().translate(_UNPRINTABLE)


def _float(value: float) -> str:
    written = repr(value)
    if written in ("inf", "-inf", "nan"):
        return written.replace("inf", ".inf").replace("nan", ".nan")
    if "e" in written and "." not in written:  # YAML 1.1 reads 1e+16 as text
        written = written.replace("e", ".0e")
    return written


def inline(value: Any) -> str | None:
    """A value that fits behind its key: a scalar, an empty collection, a list of scalars; None for any other."""
    if isinstance(value, dict):
        return None if value else "{}"
    if isinstance(value, list):
        if any(isinstance(inner, dict | list) for inner in value):
            return None
        return "[" + ", ".join(scalar(inner) for inner in value) + "]"
    return scalar(value)


def block(value: Any, indent: int) -> str:
    """The lines of a mapping or a list, each indented. `value` is plain data that does not fit inline."""
    if isinstance(value, dict):
        return "".join(pair(key, inner, indent) for key, inner in value.items())
    return "".join(item(inner, indent) for inner in value)


def pair(key: str, value: Any, indent: int) -> str:
    head = " " * indent + text(key) + ":"
    short = inline(value)
    return f"{head} {short}\n" if short is not None else f"{head}\n{block(value, indent + 2)}"


def item(value: Any, indent: int) -> str:
    """A list entry: its first line begins with a dash, and the other lines are indented."""
    short = inline(value)
    if short is not None:
        return f"{' ' * indent}- {short}\n"
    lines = block(value, indent + 2)
    return f"{' ' * indent}- {lines[indent + 2 :]}"
