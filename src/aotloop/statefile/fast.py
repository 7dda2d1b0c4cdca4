"""The fast reader: rapidyaml → JSON → typed values, all in C. It vouches for what it returns, or returns nothing.

Whatever rapidyaml might read unlike other YAML readers (see aotloop.statefile.screen) is left to the careful reader,
which is some thirty times slower, always exact, and says where a mistake is.
"""

from __future__ import annotations

import gc
import os
from typing import Any, TypeVar

import msgspec
import ryml

from aotloop.statefile.screen import is_ordinary

T = TypeVar("T")

_generic = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def read(yaml: bytes, wanted: type[T]) -> T | None:
    """The YAML as a value of the wanted type; None if it takes a careful reader to tell."""
    json = to_json(yaml)
    if json is None:
        return None
    collecting = gc.isenabled()
    gc.disable()  # all that is allocated here lives on, so that looking for garbage doubles the time
    try:
        data = _generic.decode(json)
        return msgspec.convert(data, wanted, str_keys=True) if _has_unique_keys(json, data) else None
    except (msgspec.DecodeError, RecursionError):
        return None
    finally:
        if collecting:
            gc.enable()


def to_json(yaml: bytes) -> bytes | None:
    if not is_ordinary(yaml):
        return None
    tree = ryml.Tree()
    lines = yaml.count(b"\n")
    tree.reserve(lines + lines // 2 + yaml.count(b",") + 64)
    try:
        _parse_quietly(yaml, tree)
        json = _emit_json(tree, 2 * len(yaml) + 1024)
    except Exception:  # noqa: BLE001 - rapidyaml's own exceptions share no base class worth naming
        return None
    # To rapidyaml, `nan` and `infinity` are numbers, which it spells in its own way, and a key may be empty.
    return None if b'.nan"' in json or b'.inf"' in json or b'"":' in json else json


def generic(yaml: bytes) -> Any:
    """Plain data for comparing structure; None if rapidyaml cannot be trusted with this text."""
    json = to_json(yaml)
    try:
        return _generic.decode(json) if json is not None else None
    except msgspec.DecodeError:
        return None


def _parse_quietly(yaml: bytes, tree: ryml.Tree) -> None:
    """Rapidyaml prints syntax errors to file descriptor 2 before it raises; our own message is the better one."""
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
    r"""A duplicate key is lost in decoding, so encoding again yields fewer keys than there were.

    `":` stands behind every key; inside a string it can only be `\":`, which is lost or kept with its string.
    """
    return _encoder.encode(decoded).count(b'":') == json.count(b'":')
