"""Values of any type of ours in which every text is hostile: the types say which texts there are, so none is forgotten.

Each text has a number of its own. If a script of it ran, the number would say which field it came from.
"""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
from msgspec import inspect

_numbers = itertools.count(1)
GIVEN: dict[str, Any] = {"at": "2026-01-01T00:00:00Z", "timestamp": "2026-01-01T00:00:00Z", "attempt": 1}
"""Fields that are no text of others: without them nothing would be shown at all."""


def evil() -> str:
    number = next(_numbers)
    return (
        f"<img src=x onerror=alert({number})><script>alert({number})</script><b class=evil>{number}</b>"
        f"\"'`]]>--><svg onload=alert({number})>{{{{{number}}}}}${{{number}}}\u202e"
    )


def hostile(kind: Any, **given: Any) -> Any:
    """A value of this struct. `given`: fields, of it or of structs in it, that have to be something else."""
    return _struct(kind, {**GIVEN, **given})


def _struct(kind: Any, given: dict[str, Any]) -> Any:
    known = {one.name: one for one in inspect.type_info(kind).fields}  # type: ignore[attr-defined]
    made = {name: given[name] if name in given else _value(one.type, given) for name, one in known.items()}
    return kind(**{name: value for name, value in made.items() if value is not msgspec.UNSET})


def _value(kind: inspect.Type, given: dict[str, Any]) -> Any:
    match kind:
        case inspect.StrType():
            return evil()
        case inspect.UnionType():
            texts = [one for one in kind.types if isinstance(one, inspect.StrType)]
            return _value(texts[0] if texts else kind.types[0], given)
        case inspect.StructType():
            return _struct(kind.cls, given)
        case inspect.VarTupleType() | inspect.ListType() | inspect.TupleType() | inspect.DictType():
            return _container(kind, given)
        case inspect.LiteralType():
            return kind.values[0]
        case _:
            return {inspect.BoolType: False, inspect.IntType: 1, inspect.FloatType: 1}.get(type(kind))


def _container(kind: inspect.Type, given: dict[str, Any]) -> Any:
    match kind:
        case inspect.VarTupleType():
            return (_value(kind.item_type, given),)
        case inspect.ListType():
            return [_value(kind.item_type, given)]
        case inspect.TupleType():
            return tuple(_value(one, given) for one in kind.item_types)
        case inspect.DictType():
            return {_value(kind.key_type, given): _value(kind.value_type, given)}
