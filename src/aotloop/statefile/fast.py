"""The fast reader: rapidyaml → JSON → typed values, all in C. It vouches for what it returns, or returns nothing.

Whatever rapidyaml might read unlike other YAML readers (see aotloop.statefile.screen) is left to the careful reader,
which is some thirty times slower, always exact, and says where a mistake is.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
import ryml

from aotloop.statefile.screen import is_ordinary

T = TypeVar("T")

_ODD_JSON = (b'.nan"', b'.inf"', b'"":', b'," ', b'{" ')
"""To rapidyaml, `nan` and `infinity` are numbers, spelt in its own way; a key may be empty, or begin with a space."""

_COMMANDS = tuple(
    (b'"%s": %s' % (key, word), b'"%s": "%s"' % (key, word))
    for key in (b"run", b"value")
    for word in (b"true", b"false")
)
"""Keys that hold text, and often a command: there, the plain words `true` and `false` are the commands of that name.

Inside of a text these pieces of JSON cannot stand: a quotation mark has a backslash before it there.
"""

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
        value = _converted(json, wanted)
        if value is None and (spelt := _with_commands_as_text(json)) != json:
            value = _converted(spelt, wanted)
        return value
    finally:
        if collecting:
            gc.enable()


def _converted(json: bytes, wanted: type[T]) -> T | None:
    try:
        data = _generic.decode(json)
        return msgspec.convert(data, wanted, str_keys=True) if _has_unique_keys(json, data) else None
    except (ValueError, RecursionError):  # also what is no text: halves of surrogate pairs, for one
        return None


def _with_commands_as_text(json: bytes) -> bytes:
    for word, text in _COMMANDS:
        json = json.replace(word, text)
    return json


def to_json(yaml: bytes) -> bytes | None:
    if not is_ordinary(yaml):
        return None
    tree = ryml.Tree()
    tree.reserve(len(yaml) // 16 + 64)  # about as many values as a state file of this length has
    try:
        with _quiet():
            ryml.parse_in_arena(yaml, tree)
            tree.set_container_style(tree.root_id(), ryml.FLOW_SL)  # JSON in one line: a fifth less to write and read
            json = _emit_json(tree, 2 * len(yaml) + 1024)
    except Exception:  # noqa: BLE001 - rapidyaml's own exceptions share no base class worth naming
        return None
    return None if any(odd in json for odd in _ODD_JSON) else json


def generic(yaml: bytes) -> Any:
    """Plain data for comparing structure; None if rapidyaml cannot be trusted with this text."""
    json = to_json(yaml)
    try:
        return _generic.decode(json) if json is not None else None
    except ValueError:
        return None


def of_entries(yaml: bytes) -> Any:
    """Plain data of entries of a loop, to be converted one by one; None also if a key stands twice in a mapping."""
    json = to_json(yaml)
    try:
        data = _generic.decode(_with_commands_as_text(json)) if json is not None else None
    except ValueError:
        return None
    return data if json is not None and _has_unique_keys(json, data) else None


@contextmanager
def _quiet() -> Iterator[None]:
    """Rapidyaml prints errors to file descriptor 2 before it raises; our own message is the better one."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
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
