"""Rewrites the lines of one entry so that they say something new, touching as few of them as it can.

A changed scalar or short list is replaced in its line, comment and all else kept; keys we do not know stay. If the
lines are written in a way that this cannot be done, the entry is written anew from its data, unknown keys included.
The caller checks what comes out: nothing here has to be trusted.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from aotloop.statefile import emit
from aotloop.statefile.overlay import overlay
from aotloop.statefile.pieces import KEY, Block, close_item, cut, open_item, split_value
from aotloop.statefile.reading import plain_data

_VALUE = rb"""(?P<value> "(?:[^"\\\n]|\\.)*" | '(?:[^'\n]|'')*'
    | \[(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\[\]{}"'\#\n])*\] | \{\} | [^\s\#"'\[{|>&*!][^\n]*? | )"""
_END = rb"(?P<end>(?:[ ]+\#[^\r\n]*)?[ ]*\r?\n)"
_ONE_LINE = re.compile(rb"(?P<space>[ ]*)" + _VALUE + _END, re.VERBOSE)


@cache
def _line_of(key: str, indent: int) -> re.Pattern[bytes]:
    """A key with a value behind it, and no more of that in the line that follows."""
    name = rb"\n[ ]{%d}%s:[ ]+" % (indent, re.escape(key.encode()))
    return re.compile(name + _VALUE + _END + rb"(?=\Z|[ ]{%d}[^\s\#-])" % indent, re.VERBOSE)


def revise_mapping(block: Block, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Changes the lines of a mapping where new differs from old; keys that are in neither stay as they are."""
    if any(key not in new for key in old):
        kept = [number for number, piece in enumerate(block.pieces) if piece.name in new or piece.name not in old]
        block.arrange(list(kept), [block.pieces[number].name for number in kept])
    for key, value in new.items():
        if key in old and old[key] == value:
            continue
        place = next((number for number, piece in enumerate(block.pieces) if piece.name == key), None)
        if place is None:
            block.append(key)
            block.put(len(block.pieces) - 1, emit.pair(key, value, block.indent).encode())
        else:
            lines = block.pieces[place].lines
            block.put(place, revised_pair(lines, key, old.get(key), value, block.indent))


def _revised_mapping(text: bytes, old: dict[str, Any], new: dict[str, Any]) -> bytes | None:
    """The lines of a block mapping, changed; None if they are no such mapping."""
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
    short = emit.inline(new)
    if short is not None:
        name = KEY.match(lines, indent)
        value = _ONE_LINE.fullmatch(lines, name.end()) if name is not None else None
        if name is not None and value is not None:
            return lines[: name.end()] + (value["space"] or b" ") + short.encode() + value["end"]
    elif not old and (opened := _opened(lines, indent)) is not None:
        return opened + emit.block(new, indent + 2).encode()
    return _rewritten_pair(lines, key, old, new, indent)


def revised_item(lines: bytes, old: msgspec.Struct, new: msgspec.Struct, indent: int) -> bytes:
    """The lines of one list entry that is a mapping."""
    before, after = emit.differences(old, new)
    revised = _revised_in_line(lines, before, after, indent + 2)
    if revised is not None:
        return revised
    inner = _revised_mapping(open_item(lines, indent), before, after)
    if inner is not None:
        return close_item(inner, indent)
    raw, known = plain_data(lines), emit.to_data(new)
    carried = overlay(raw[0], emit.to_data(old), known) if isinstance(raw, list) and len(raw) == 1 else known
    return emit.item(carried, indent).encode()


def _revised_in_line(lines: bytes, old: dict[str, Any], new: dict[str, Any], indent: int) -> bytes | None:
    """As most entries are revised, without cutting them: values that stand, and fit, behind their keys."""
    if old.keys() != new.keys():
        return None
    for key, value in new.items():
        short = emit.inline(value)
        found = _line_of(key, indent).search(lines) if short is not None else None
        if short is None or found is None:
            return None
        lines = lines[: found.start("value")] + short.encode() + lines[found.end("value") :]
    return lines


def _rewritten_pair(lines: bytes, key: str, old: Any, new: Any, indent: int) -> bytes:
    raw = plain_data(lines)
    carried = overlay(raw[key], old, new) if isinstance(raw, dict) and key in raw else new
    return emit.pair(key, carried, indent).encode()


def _opened(lines: bytes, indent: int) -> bytes | None:
    """`key: []  # comment` → `key:  # comment`, ready for a block below it."""
    name = KEY.match(lines, indent)
    value = _ONE_LINE.fullmatch(lines, name.end()) if name is not None else None
    return lines[: name.end()] + value["end"] if name is not None and value is not None else None
