"""The fast reader: rapidyaml → JSON → typed values, all in C. It vouches for what it returns, or returns nothing.

rapidyaml is quick but lenient: it accepts duplicate keys, undefined aliases, reserved characters and invalid UTF-8, and
reads a few plain scalars (`~`, `nan`) unlike other YAML readers. Whatever could be one of these is left to
aotloop.statefile.careful, which is some thirty times slower, always exact, and says where a mistake is.
"""

from __future__ import annotations

import os
import re
from typing import Any, TypeVar

import msgspec
import ryml

T = TypeVar("T")

_RARE = bytes(set(range(32)) - {0x0A, 0x0D}) + b"\x7f&*!@`~%?<"
"""Control characters (a tab too) and what begins a token that we do not leave to rapidyaml."""

_TOKEN_BEFORE = b"\n\r:-?[{,"
_NAN, _INF = re.compile(rb"nan(?![\w.-])"), re.compile(rb"inf(?![\w.-])")
"""Ends of scalars that rapidyaml may read in its own way. Two patterns, as a literal prefix is searched fastest."""

_ODD_UNICODE = re.compile(rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]")
_DEEP_BLOCK = re.compile(rb"(?:[-?][ \t]+){32}")
_MOST_OPEN_BRACKETS = 500
_LONG_LINE = 2000
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))

_generic = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def read(yaml: bytes, wanted: type[T]) -> T | None:
    """The YAML as a value of the wanted type; None if it takes a careful reader to tell."""
    json = to_json(yaml)
    if json is None:
        return None
    try:
        data = _generic.decode(json)
        return msgspec.convert(data, wanted, str_keys=True) if _has_unique_keys(json, data) else None
    except (msgspec.DecodeError, RecursionError):
        return None


def to_json(yaml: bytes) -> bytes | None:
    if _is_suspect(yaml):
        return None
    tree = ryml.Tree()
    lines = yaml.count(b"\n")
    tree.reserve(2 * lines + yaml.count(b",") + yaml.count(b"[") + 16)
    try:
        _parse_quietly(yaml, tree)
        return _emit_json(tree, 2 * len(yaml) + 1024)
    except Exception:  # noqa: BLE001 - rapidyaml's own exceptions share no base class worth naming
        return None


def generic(yaml: bytes) -> Any:
    """Plain data for comparing structure; None if rapidyaml cannot be trusted with this text."""
    json = to_json(yaml)
    try:
        return _generic.decode(json) if json is not None else None
    except msgspec.DecodeError:
        return None


def _is_suspect(yaml: bytes) -> bool:
    if not yaml.strip() or _has_odd_word(yaml) or may_nest_deeply(yaml):
        return True
    if not yaml.isascii():
        try:
            yaml.decode()
        except UnicodeDecodeError:
            return True
        if _ODD_UNICODE.search(yaml) is not None:
            return True
    if len(yaml.translate(None, _RARE)) == len(yaml):
        return False
    return any(_begins_token(yaml, match.start()) for match in _RARE_CHARACTER.finditer(yaml))


def _has_odd_word(yaml: bytes) -> bool:
    lowered = yaml.lower()
    return (
        (b"nan" in lowered and _NAN.search(lowered) is not None)
        or (b"inf" in lowered and _INF.search(lowered) is not None)
        or b"Null" in yaml
        or b"NULL" in yaml
    )


_RARE_CHARACTER = re.compile(b"[" + re.escape(_RARE) + b"]")


def _begins_token(yaml: bytes, position: int) -> bool:
    """Whether a rare character could be YAML syntax, rather than a part of some text."""
    character = yaml[position : position + 1]
    if character < b" " or character == b"\x7f":
        return True
    following = yaml[position + 1 : position + 2]
    if character in b"&*" and not (following.isalnum() or following in b"_-"):
        return False
    if character in b"?<" and following not in (b" ", b"\n", b"\r", b"<", b":"):
        return False
    before = yaml[max(0, position - 200) : position].rstrip(b" ")[-1:]
    return before in _TOKEN_BEFORE


def may_nest_deeply(yaml: bytes) -> bool:
    """A cheap suspicion: parsers recurse, and a hostile file could nest until they overflow the stack."""
    brackets = yaml.translate(None, _NOT_BRACKETS)
    for _ in range(4):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    opened = brackets.count(b"[") + brackets.count(b"{")
    return opened > _MOST_OPEN_BRACKETS or (_has_long_line(yaml) and _DEEP_BLOCK.search(yaml) is not None)


def _has_long_line(yaml: bytes) -> bool:
    """Blocks nest by indentation, or many to a line; so without a line of this length they are not deep."""
    return any(
        yaml.find(b"\n", start, start + _LONG_LINE) == -1 for start in range(0, len(yaml) - _LONG_LINE, _LONG_LINE)
    )


def _parse_quietly(yaml: bytes, tree: ryml.Tree) -> None:
    """rapidyaml prints syntax errors to file descriptor 2 before it raises; our own message is the better one."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        ryml.parse_in_arena(yaml, tree)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _emit_json(tree: ryml.Tree, room: int) -> bytes:
    buffer = bytearray(room)
    too_small, length = ryml.emit_json_to_substr(tree, tree.root_id(), buffer)
    if too_small:
        buffer = bytearray(length)
        _, length = ryml.emit_json_to_substr(tree, tree.root_id(), buffer)
    return bytes(memoryview(buffer)[:length])


def _has_unique_keys(json: bytes, decoded: Any) -> bool:
    """A duplicate key is lost in decoding, so encoding again yields fewer keys than there were.

    `":` stands behind every key; inside a string it can only be `\\":`, which is lost or kept with its string.
    """
    return _encoder.encode(decoded).count(b'":') == json.count(b'":')
