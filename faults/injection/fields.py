"""Every place for a text in a type, found by walking the type: a field that is added tomorrow is covered tomorrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import inspect

Step = str
"""The name of a field; `[]`: an entry of a list; `{}`: a value of a mapping, `{key}`: its key."""
Path = tuple[Step, ...]

_KEY = "some"
_DEEPEST = 2
"""So often a type that contains itself is entered."""


def texts_in(kind: type) -> list[Path]:
    return list(dict.fromkeys(_texts(inspect.type_info(kind), (), ())))


def _texts(kind: inspect.Type, path: Path, inside: tuple[type, ...]) -> Iterator[Path]:
    match kind:
        case inspect.StrType() | inspect.AnyType():
            yield path
        case inspect.Metadata():
            yield from _texts(kind.type, path, inside)
        case inspect.StructType() if inside.count(kind.cls) < _DEEPEST:
            for field in kind.fields:
                yield from _texts(field.type, (*path, field.encode_name), (*inside, kind.cls))
        case inspect.UnionType():
            for one in kind.types:
                yield from _texts(one, path, inside)
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            yield from _texts(kind.item_type, (*path, "[]"), inside)
        case inspect.DictType():
            yield from [(*path, "{key}")] if isinstance(kind.key_type, inspect.StrType) else []
            yield from _texts(kind.value_type, (*path, "{}"), inside)


def put(data: Any, kind: type, path: Path, text: str) -> Any:
    """The data with this text at that place; what is missing on the way there is made."""
    return _put(data, inspect.type_info(kind), path, text)


def _put(data: Any, kind: inspect.Type, path: Path, text: str) -> Any:
    if not path:
        return text
    step, rest = path[0], path[1:]
    kind = _chosen(_bare(kind), path)
    if isinstance(kind, inspect.StructType):
        field = next(one for one in kind.fields if one.encode_name == step)
        below = data if isinstance(data, dict) else example(kind)
        return {**below, step: _put(below.get(step), field.type, rest, text)}
    if isinstance(kind, inspect.DictType):
        below = dict(data) if isinstance(data, dict) and data else {_key(kind): example(kind.value_type)}
        key, value = next(iter(below.items()))
        if step == "{key}":
            return {text if one == key else one: inner for one, inner in below.items()}
        return {**below, key: _put(value, kind.value_type, rest, text)}
    entries = list(data) if isinstance(data, list | tuple) and data else [example(kind.item_type)]  # type: ignore[attr-defined]
    return [_put(entries[0], kind.item_type, rest, text), *entries[1:]]  # type: ignore[attr-defined]


def _key(kind: inspect.DictType) -> str | int:
    return _KEY if isinstance(kind.key_type, inspect.StrType) else 1


def _bare(kind: inspect.Type) -> inspect.Type:
    return kind.type if isinstance(kind, inspect.Metadata) else kind


def _chosen(kind: inspect.Type, path: Path) -> inspect.Type:
    """Of several types, the one in which this path is."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    return _bare(next(one for one in kind.types if path in set(_texts(one, (), ()))))


def example(kind: inspect.Type) -> Any:
    """The least that is of this type."""
    found: Any = "x"
    match _bare(kind):
        case inspect.StructType() as kind:
            found = {one.encode_name: example(one.type) for one in kind.fields if one.required}
        case inspect.LiteralType() as kind:
            found = kind.values[0]
        case inspect.UnionType() as kind:
            found = None if kind.includes_none else example(kind.types[0])
        case inspect.BoolType():
            found = False
        case inspect.IntType() | inspect.FloatType():
            found = 1
        case inspect.ListType() | inspect.VarTupleType():
            found = []
        case inspect.DictType():
            found = {}
    return found
