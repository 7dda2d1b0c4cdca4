"""Entry edits: rewrites the lines of one entry for a new value, and touches as few lines as possible.

A changed scalar or short list is replaced in its line; its comment and the rest of the line stay, and so do unknown
keys. If the style of the lines does not allow this, the entry is written anew from its data, including unknown keys.
The caller checks the result, so this code need not be trusted.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from aotloop.statefile.reader import plain_data
from aotloop.statefile.yaml import emitter
from aotloop.statefile.yaml.pieces import KEY, Block, close_item, cut, open_item, split_value

_VALUE = rb"""(?P<value> "(?:[^"\\\n]|\\.)*" | '(?:[^'\n]|'')*'
    | \[(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\[\]{}"'\#\n])*\] | \{\} | [^\s\#"'\[{|>&*!][^\n]*? | )"""
_END = rb"(?P<end>(?:[ ]+\#[^\r\n]*)?[ ]*\r?\n)"
_ONE_LINE = re.compile(rb"(?P<space>[ ]*)" + _VALUE + _END, re.VERBOSE)


@cache
def _line_of(key: str, indent: int) -> re.Pattern[bytes]:
    """A key with a value behind it that ends in the same line."""
    name = rb"\n[ ]{%d}%s:[ ]+" % (indent, re.escape(key.encode()))
    return re.compile(name + _VALUE + _END + rb"(?=\Z|[ ]{%d}[^\s\#-])" % indent, re.VERBOSE)


def revise_mapping(block: Block, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Changes the lines of a mapping where new differs from old. Keys in neither of them stay the same."""
    if any(key not in new for key in old):
        kept = [number for number, piece in enumerate(block.pieces) if piece.name in new or piece.name not in old]
        block.arrange(list(kept), [block.pieces[number].name for number in kept])
    for key, value in new.items():
        if key in old and old[key] == value:
            continue
        place = next((number for number, piece in enumerate(block.pieces) if piece.name == key), None)
        if place is None:
            block.append(key)
            block.put(len(block.pieces) - 1, emitter.pair(key, value, block.indent).encode())
        else:
            lines = block.pieces[place].lines
            block.put(place, revised_pair(lines, key, old.get(key), value, block.indent))


def _revised_mapping(text: bytes, old: dict[str, Any], new: dict[str, Any]) -> bytes | None:
    """The changed lines of a block mapping; None if the lines are no such mapping."""
    block = cut(text)
    if block is None or block.kind != "mapping":
        return None
    revise_mapping(block, old, new)
    return block.text()


def revised_pair(lines: bytes, key: str, old: Any, new: Any, indent: int) -> bytes:
    if isinstance(old, dict) and isinstance(new, dict) and new:
        nested = split_value(lines, indent)
        inner = _revised_mapping(nested[1], old, new) if nested is not None else None
        if nested is not None and inner is not None:
            return nested[0] + inner
    short = emitter.inline(new)
    if short is not None:
        name = KEY.match(lines, indent)
        value = _ONE_LINE.fullmatch(lines, name.end()) if name is not None else None
        if name is not None and value is not None:
            return lines[: name.end()] + (value["space"] or b" ") + short.encode() + value["end"]
    elif not old and (opened := _opened(lines, indent)) is not None:
        return opened + emitter.block(new, indent + 2).encode()
    return _rewritten_pair(lines, key, old, new, indent)


def revised_item(lines: bytes, old: msgspec.Struct, new: msgspec.Struct, indent: int) -> bytes:
    """The changed lines of one list entry that is a mapping."""
    before, after = emitter.differences(old, new)
    revised = _revised_in_line(lines, before, after, indent + 2)
    if revised is not None:
        return revised
    inner = _revised_mapping(open_item(lines, indent), before, after)
    if inner is not None:
        return close_item(inner, indent)
    raw, known = plain_data(lines), emitter.to_data(new)
    carried = overlay(raw[0], emitter.to_data(old), known) if isinstance(raw, list) and len(raw) == 1 else known
    return emitter.item(carried, indent).encode()


def _revised_in_line(lines: bytes, old: dict[str, Any], new: dict[str, Any], indent: int) -> bytes | None:
    """The usual, fast way: replaces values that stand behind their keys, and fit there, without cutting the entry."""
    if old.keys() != new.keys():
        return None
    for key, value in new.items():
        short = emitter.inline(value)
        found = _line_of(key, indent).search(lines) if short is not None else None
        if short is None or found is None:
            return None
        lines = lines[: found.start("value")] + short.encode() + lines[found.end("value") :]
    return lines


def _rewritten_pair(lines: bytes, key: str, old: Any, new: Any, indent: int) -> bytes:
    raw = plain_data(lines)
    carried = overlay(raw[key], old, new) if isinstance(raw, dict) and key in raw else new
    return emitter.pair(key, carried, indent).encode()


def _opened(lines: bytes, indent: int) -> bytes | None:
    """`key: []  # comment` → `key:  # comment`, ready for a block below it."""
    name = KEY.match(lines, indent)
    value = _ONE_LINE.fullmatch(lines, name.end()) if name is not None else None
    return lines[: name.end()] + value["end"] if name is not None and value is not None else None


def overlay(raw: Any, old: Any, new: Any) -> Any:
    """`raw` is the content of the file, `old` the known part of it, `new` the new known part.

    Known values come from `new` even if they have not changed: there, text is text in every notation.
    """
    if isinstance(raw, dict) and isinstance(old, dict) and isinstance(new, dict):
        result = {key: value for key, value in raw.items() if key in new or key not in old}
        for key, value in new.items():
            if key in raw:
                result[key] = overlay(raw[key], old.get(key), value)
            elif key not in old or old[key] != value:
                result[key] = value
        return result
    if isinstance(raw, list) and isinstance(old, list) and isinstance(new, list) and len(raw) == len(old):
        sources = matches(old, new)
        return [
            value if source is None else overlay(raw[source], old[source], value)
            for source, value in zip(sources, new, strict=True)
        ]
    return new


def matches(old: list[Any], new: list[Any]) -> list[int | None]:
    """For every new entry, the old entry that it continues: the one with the same value, else with the same name."""
    by_name: dict[Any, int] = {}
    for number, entry in enumerate(old):
        by_name.setdefault(_name(entry), number)
    taken: set[int] = set()
    result: list[int | None] = []
    for number, entry in enumerate(new):
        same_place = number < len(old) and old[number] == entry
        source = number if same_place else by_name.get(_name(entry))
        if source in taken:
            source = None
        if source is not None:
            taken.add(source)
        result.append(source)
    return result


def _name(entry: Any) -> Any:
    """The identity of an entry in its list: an atom's id, an item's name, a decomposition's parent."""
    if isinstance(entry, dict):
        for key in ("id", "item", "criterion", "parent"):
            if isinstance(entry.get(key), str):
                return (key, entry[key])
        return repr(entry)
    return repr(entry)
