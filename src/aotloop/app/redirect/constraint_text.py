"""Constraints as a person types them: NAME=VALUE, where `none` unsets an optional constraint."""

from __future__ import annotations

from typing import Any

import msgspec

from aotloop.core.limits import EFFORTS, SET_BY_EFFORT, limits_of
from aotloop.core.model import Constraints, Effort
from aotloop.errors import AotError
from aotloop.text.phrases import nearest

_FIELDS = {field.name: field for field in msgspec.structs.fields(Constraints)}
_KINDS: dict[Any, str] = {
    int: "a whole number",
    int | None: "a whole number",
    bool: "true or false",
    Effort: f"one of {', '.join(EFFORTS)}",
}


def limit_of(typed: str) -> tuple[str, Any]:
    """Checks only the type of the value; the machine checks whether it makes sense."""
    name, equals, text = (part.strip() for part in typed.partition("="))
    if name not in _FIELDS:
        raise AotError(f"there is no constraint {name}", hint=_known(name))
    if not equals or not text:
        raise AotError(f"{name} needs a value: {name}=VALUE")
    field = _FIELDS[name]
    if text.lower() == "none":
        if field.default is not None:
            raise AotError(f"{name} cannot be unset; its default is {field.default}")
        return name, None
    return name, _value(name, text)


def shown(value: object) -> str:
    """The value as a person would type it."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def in_force(constraints: Constraints, name: str) -> str:
    """Like `shown`; for an unset constraint, the value that `effort` gives it."""
    value = getattr(constraints, name)
    if value is None and name in SET_BY_EFFORT:
        return f"{getattr(limits_of(constraints), name)} (by effort)"
    return shown(value)


def _value(name: str, text: str) -> Any:
    if name == "max_runtime":
        return _duration(text)
    wanted = _FIELDS[name].type
    try:
        return msgspec.convert(text, wanted, strict=False)
    except msgspec.ValidationError:
        raise AotError(f"{name}: {text!r} is not {_KINDS.get(wanted, 'a number')}") from None


def _duration(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _known(name: str) -> str:
    near = nearest(name, _FIELDS)
    return f"Did you mean {near}?" if near else f"There are: {', '.join(_FIELDS)}."
