"""The careful reader, second half: node tree → typed values, with a finding for every mistake.

The expected type of a key decides the meaning of a scalar. Text is taken as it is written (`id: 1` is the text "1",
because no number is expected). Numbers, booleans and null follow YAML 1.1, as in PyYAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import yaml
from msgspec import inspect

from aotloop.core.findings import Finding, Path
from aotloop.errors import StateFileInvalid
from aotloop.statefile.yaml.nodes import MOST_LEVELS, pairs
from aotloop.text.phrases import nearest
from aotloop.text.shorten import PHRASE, shorten

MOST_PLAIN_NODES = 1_000_000

INVALID: Any = object()
"""The placeholder of a value that could not be read; a finding says why."""

_constructor = yaml.constructor.SafeConstructor()
_FLOAT = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?")
_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = tuple(_TAG + name for name in ("str", "int", "float", "bool", "timestamp", "value", "merge"))


class Reader:
    """Collects findings while it builds values. One reader reads one file."""

    def __init__(self, first_line: int = 1, most_nodes: int = 1_000_000) -> None:
        self.findings: list[Finding] = []
        self._first_line = first_line
        self._nodes_left = most_nodes

    def read(self, node: yaml.Node, wanted: Any, path: Path = ()) -> Any:
        """`wanted` is a Python type; returns a value of it, or INVALID."""
        return self._value(node, _type_info(wanted), path)

    def add(self, level: str, node: yaml.Node, path: Path, message: str, *, missing: bool = False) -> None:
        mark = node.start_mark
        self.findings.append(
            Finding(
                "error" if level == "error" else "warning",
                path,
                message,
                line=mark.line + self._first_line,
                column=mark.column + 1,
                missing=missing,
            )
        )

    def note_missing(self, node: yaml.Node, expected: tuple[str, ...]) -> None:
        present = {str(key.value) for key, _ in pairs(node)} if isinstance(node, yaml.MappingNode) else set(expected)
        for name in expected:
            if name not in present:
                self.add("warning", node, (name,), "is missing; read as empty")

    def _wrong(self, node: yaml.Node, path: Path, expected: str) -> Any:
        self.add("error", node, path, f"expected {expected}, found {_shown(node)}", missing=_is_null(node))
        return INVALID

    # --- one value ---------------------------------------------------------------------------------------------

    def _value(self, node: yaml.Node, wanted: inspect.Type, path: Path) -> Any:
        self._nodes_left -= 1
        if self._nodes_left < 0 or len(path) > MOST_LEVELS:
            if self._nodes_left >= -1:
                self.add("error", node, path, "the aliases of this file expand to more than can be read")
            self._nodes_left = -2
            return INVALID
        if not node.tag.startswith(_TAG):
            return self._wrong(node, path, "a plain value")
        if isinstance(wanted, inspect.UnionType):
            wanted = _member_for(node, wanted)
        readers: dict[type, Callable[[Any, Any, Path], Any]] = {
            inspect.StructType: self._struct,
            inspect.DictType: self._dict,
            inspect.ListType: self._list,
            inspect.VarTupleType: self._list,
        }
        reader: Callable[[Any, Any, Path], Any] = readers.get(type(wanted), self._scalar)
        return reader(node, wanted, path)

    def _struct(self, node: yaml.Node, wanted: inspect.StructType, path: Path) -> Any:
        if not isinstance(node, yaml.MappingNode):
            return self._wrong(node, path, "a mapping")
        fields = {field.encode_name: field for field in wanted.fields}
        values: dict[str, Any] = {}
        for key, value in self._unique_pairs(node, path):
            field = fields.get(key)
            if field is None:
                self.add("warning", value, (*path, key), f"unknown key, kept as it is{_near(key, fields)}")
            elif not (_is_null(value) and not field.required and not _takes_null(field.type)):
                values[field.name] = self._value(value, field.type, (*path, key))
        for name, field in fields.items():
            if field.required and field.name not in values:
                values[field.name] = INVALID
                self.add("error", node, (*path, name), "is missing", missing=True)
        return INVALID if any(value is INVALID for value in values.values()) else wanted.cls(**values)

    def _dict(self, node: yaml.Node, wanted: inspect.DictType, path: Path) -> Any:
        if _is_null(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            return self._wrong(node, path, "a mapping")
        result: dict[Any, Any] = {}
        for key, value in self._unique_pairs(node, path):
            name: Any = key
            if isinstance(wanted.key_type, inspect.IntType):
                if not key.isdecimal():
                    self.add("error", value, (*path, key), "expected a whole number as the key")
                    continue
                name = int(key)
            result[name] = self._value(value, wanted.value_type, (*path, key))
        return INVALID if any(value is INVALID for value in result.values()) else result

    def _list(self, node: yaml.Node, wanted: inspect.ListType | inspect.VarTupleType, path: Path) -> Any:
        if _is_null(node):
            result: list[Any] = []
        elif isinstance(node, yaml.SequenceNode):
            result = [self._value(child, wanted.item_type, (*path, number)) for number, child in enumerate(node.value)]
        else:
            return self._wrong(node, path, "a list")
        if any(value is INVALID for value in result):
            return INVALID
        return tuple(result) if isinstance(wanted, inspect.VarTupleType) else result

    def _unique_pairs(self, node: yaml.MappingNode, path: Path) -> list[tuple[str, yaml.Node]]:
        found: dict[str, yaml.Node] = {}
        for key, value in pairs(node):
            if not isinstance(key, yaml.ScalarNode) or not key.tag.startswith(_TAG):
                self.add("error", key, path, f"expected text as the key, found {_shown(key)}")
            elif key.value in found:
                self.add("error", key, (*path, key.value), "this key occurs twice here; keep one of them")
            else:
                found[key.value] = value
        return list(found.items())

    # --- scalars -----------------------------------------------------------------------------------------------

    def _scalar(self, node: yaml.Node, wanted: inspect.Type, path: Path) -> Any:
        value = INVALID
        if not isinstance(node, yaml.ScalarNode):
            return self._wrong(node, path, _described(wanted))
        if isinstance(wanted, inspect.StrType):
            value = _text(node)
        elif isinstance(wanted, inspect.LiteralType):
            value = _text(node) if _text(node) in wanted.values else INVALID
        elif isinstance(wanted, inspect.BoolType):
            value = _constructor.construct_yaml_bool(node) if node.tag == _TAG + "bool" else INVALID
        elif isinstance(wanted, inspect.IntType):
            value = _whole(node)
        elif isinstance(wanted, inspect.FloatType):
            value = _number(node)
        elif isinstance(wanted, inspect.NoneType) and _is_null(node):
            return None
        return self._wrong(node, path, _described(wanted)) if value is INVALID else value


def _text(node: yaml.ScalarNode) -> Any:
    return node.value if node.tag in _TEXT_TAGS else INVALID


def _number(node: yaml.ScalarNode) -> Any:
    try:
        if node.tag == _TAG + "int":
            return float(_constructor.construct_yaml_int(node))
        if node.tag == _TAG + "float":
            return _constructor.construct_yaml_float(node)
    except (ValueError, OverflowError):
        return INVALID
    return float(node.value) if _is_new_float(node) else INVALID


def _is_new_float(node: yaml.ScalarNode) -> bool:
    """A number in YAML 1.2, but text in PyYAML: 1e3, -.5."""
    return node.tag == _TAG + "str" and not node.style and _FLOAT.fullmatch(node.value) is not None


def _whole(node: yaml.ScalarNode) -> Any:
    if node.tag == _TAG + "int":
        try:
            whole = _constructor.construct_yaml_int(node)
        except ValueError:
            return INVALID
        return whole if abs(whole) < 1 << 100 else INVALID  # longer numbers cannot even be printed
    number = _number(node)
    return int(number) if number is not INVALID and number == number // 1 else INVALID


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == _TAG + "null"


@cache
def _type_info(wanted: Any) -> inspect.Type:
    return inspect.type_info(wanted)


def _takes_null(wanted: inspect.Type) -> bool:
    if isinstance(wanted, inspect.UnionType):
        return any(isinstance(member, inspect.NoneType) for member in wanted.types)
    return isinstance(wanted, inspect.ListType | inspect.VarTupleType | inspect.DictType)


def _member_for(node: yaml.Node, union: inspect.UnionType) -> inspect.Type:
    """The member of a union that fits this kind of node."""
    if _is_null(node):
        fitting: tuple[type, ...] = (inspect.NoneType,)
    elif isinstance(node, yaml.MappingNode):
        fitting = (inspect.StructType, inspect.DictType)
    elif isinstance(node, yaml.SequenceNode):
        fitting = (inspect.ListType, inspect.VarTupleType)
    elif node.tag == _TAG + "int":
        fitting = (inspect.IntType, inspect.FloatType, inspect.StrType)
    elif node.tag == _TAG + "float":
        fitting = (inspect.FloatType, inspect.StrType)
    else:
        fitting = (inspect.StrType, inspect.LiteralType)
    for kind in fitting:
        for member in union.types:
            if isinstance(member, kind):
                return member
    return next(member for member in union.types if not isinstance(member, inspect.NoneType))


def _described(wanted: inspect.Type) -> str:
    if isinstance(wanted, inspect.LiteralType):
        return "one of " + ", ".join(str(value) for value in wanted.values)
    return {
        inspect.StrType: "text",
        inspect.BoolType: "true or false",
        inspect.IntType: "a whole number",
        inspect.FloatType: "a number",
        inspect.NoneType: "nothing",
    }.get(type(wanted), "a value")


def _shown(node: yaml.Node) -> str:
    if not node.tag.startswith(_TAG):
        return f"the tag {node.tag}"
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if _is_null(node):
        return "nothing"
    return repr(shorten(node.value, PHRASE))


def _near(key: str, known: dict[str, Any]) -> str:
    near = nearest(key, known, likeness=0.7)
    return f"; did you mean {near}?" if near else ""


def plain(node: yaml.Node, room: list[int] | None = None, level: int = 0) -> Any:
    """A node as plain data, so that unknown keys survive a rewrite.

    `room` counts down, because aliases can expand a file of a few lines beyond any memory.
    """
    room = [MOST_PLAIN_NODES] if room is None else room
    room[0] -= 1
    if room[0] < 0 or level > MOST_LEVELS:
        raise StateFileInvalid("the aliases of this file expand to more than can be written")
    if isinstance(node, yaml.MappingNode):
        return {
            key.value: plain(value, room, level + 1) for key, value in pairs(node) if isinstance(key, yaml.ScalarNode)
        }
    if isinstance(node, yaml.SequenceNode):
        return [plain(child, room, level + 1) for child in node.value]
    if not isinstance(node, yaml.ScalarNode) or _is_null(node):
        return None
    if node.tag == _TAG + "bool":
        return _constructor.construct_yaml_bool(node)
    number = {_TAG + "int": _whole, _TAG + "float": _number}.get(node.tag, _text)(node)
    return node.value if number is INVALID else number
