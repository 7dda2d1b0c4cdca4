"""The fast reader: rapidyaml → JSON → typed values, all in C. It returns a certain result, or nothing.

Text that rapidyaml might read differently from other YAML readers (see the module `screen`) is left to the careful
reader. That reader is about thirty times slower, always exact, and reports the place of a mistake.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

import msgspec

from aotloop.lean_imports import standing_in
from aotloop.statefile.yaml.screen import is_ordinary, ordinary_form

_deprecation: Any = ModuleType("deprecation")
_deprecation.deprecated = lambda **_: lambda function: function
with standing_in("deprecation", _deprecation):  # rapidyaml marks old functions with it, and we call none of them
    import ryml

T = TypeVar("T")
Json = bytes | bytearray

_SUSPICIOUS_JSON = (b'.nan"', b'.inf"', b'"":', b'," ', b'{" ')
_ODD_JSON = rb'"[-+]?\.(?:nan|inf)"|"":|[{,]" (?:[^"\\]|\\.)*":'
"""For rapidyaml, `nan` and `infinity` are numbers with their own spelling. A key may be empty or begin with a space."""

_CONTROLS = bytes(range(32))
_PIECE = 1 << 16

_COMMANDS = tuple(
    (b'"%s": %s' % (key, word), b'"%s": "%s"' % (key, word))
    for key in (b"run", b"value")
    for word in (b"true", b"false")
)
"""Keys that contain text, often a command: there, the plain words `true` and `false` are the commands of that name.

These pieces of JSON cannot occur inside a text, because a quotation mark has a backslash before it there.
"""

_generic = msgspec.json.Decoder()
_mapping = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list = msgspec.json.Decoder(list[msgspec.Raw])
_encoder = msgspec.json.Encoder()


def read(yaml: bytes, wanted: type[T]) -> T | None:
    """The YAML as a value of the wanted type; None if only the careful reader can decide."""
    form = ordinary_form(yaml)
    json = _to_json(form) if form is not None else None
    if json is None:
        return None
    with suspended():
        value = _converted(json, wanted)
        if value is None and (spelt := _with_commands_as_text(json)) != json:
            value = _converted(spelt, wanted)
        return value


def _converted(json: Json, wanted: type[T]) -> T | None:
    try:
        data = _generic.decode(json)
        return msgspec.convert(data, wanted, str_keys=True) if _has_unique_keys(json, data) else None
    except (ValueError, RecursionError):  # also invalid text, for example halves of surrogate pairs
        return None


def _with_commands_as_text(json: Json) -> Json:
    for word, text in _COMMANDS:
        json = json.replace(word, text)
    return json


def to_json(yaml: bytes) -> Json | None:
    """None also for a form that is not ordinary: the places of entries count here."""
    return _to_json(yaml) if is_ordinary(yaml) else None


def _to_json(yaml: bytes) -> Json | None:
    json = _converted_by_rapidyaml(yaml)
    if json is None:
        return None
    if any(map(_has_control, _pieces(json))):  # rapidyaml writes them as they are, which JSON forbids
        json = re.sub(rb"[\x00-\x1f]", lambda found: b"\\u%04x" % found[0][0], json)
    is_suspicious = any(odd in json for odd in _SUSPICIOUS_JSON)  # such a search is much faster than the pattern
    return None if is_suspicious and re.search(_ODD_JSON, json) is not None else json


def _pieces(json: Json) -> Iterator[Json]:
    """In pieces: a whole copy would be as large as the text."""
    return (json[begin : begin + _PIECE] for begin in range(0, len(json), _PIECE))


def _has_control(piece: Json) -> bool:
    return len(piece.translate(None, _CONTROLS)) < len(piece)


def _converted_by_rapidyaml(yaml: bytes) -> Json | None:
    """Its tree is many times as large as the text, and ends with this call."""
    tree = ryml.Tree()
    tree.reserve(_most_values(yaml))  # a tree that has to grow takes three times its room for a moment
    try:
        with _quiet():
            ryml.parse_in_arena(yaml, tree)
            tree.set_container_style(tree.root_id(), ryml.FLOW_SL)  # JSON in one line is a fifth shorter
            return _emit_json(tree, 2 * len(yaml) + 1024)
    except Exception:  # noqa: BLE001 - rapidyaml's own exceptions share no base class worth naming
        return None


def outline(yaml: bytes, *, in_any_form: bool = False) -> dict[str, Any] | None:
    """The two upper levels of a mapping: keys, and texts in lists; None if rapidyaml cannot be trusted with this text.

    `in_any_form`: also with another text that has the same values.

    All the rest is checked, and no value is made of it: the plain data of a large file take more room than its loop.
    """
    form = ordinary_form(yaml) if in_any_form else yaml
    json = (_to_json if in_any_form else to_json)(form) if form is not None else None
    try:
        found = _mapping.decode(json) if json is not None else None
        return {name: _outlined(raw) for name, raw in found.items()} if found is not None else None
    except ValueError:
        return None


def _outlined(raw: msgspec.Raw) -> Any:
    match _first(raw):
        case b"{":
            return dict.fromkeys(_mapping.decode(raw))
        case b"[":
            return [_generic.decode(item) if _first(item) == b'"' else None for item in _list.decode(raw)]
        case _:
            return _generic.decode(raw)


def _first(raw: msgspec.Raw) -> bytes:
    return memoryview(raw)[:1].tobytes()


def of_entries(yaml: bytes) -> Any:
    """Plain data of entries of a loop, for single conversion; None also if a mapping has a duplicate key."""
    json = to_json(yaml)
    try:
        data = _generic.decode(_with_commands_as_text(json)) if json is not None else None
    except ValueError:
        return None
    return data if json is not None and _has_unique_keys(json, data) else None


@contextmanager
def _quiet() -> Iterator[None]:
    """Rapidyaml prints errors to file descriptor 2 before it raises. Our own message is better, so this hides them."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _most_values(yaml: bytes) -> int:
    """A value stands behind a colon or a dash, or begins a list in brackets, or stands behind a comma there."""
    signs = sum(map(yaml.count, (b":", b"- ", b"-\n", b",", b"[", b"{")))
    return 64 + min(signs, len(yaml) // 16)  # fewer than signs if there is much text


def _emit_json(tree: ryml.Tree, room: int) -> Json:
    buffer = bytearray(room)
    too_small, length = ryml.emit_json_to_substr(tree, tree.root_id(), buffer)
    if too_small:
        buffer = bytearray(length)
        _, length = ryml.emit_json_to_substr(tree, tree.root_id(), buffer)
    del buffer[length:]
    return buffer


def _has_unique_keys(json: Json, decoded: Any) -> bool:
    r"""A duplicate key is lost in decoding, so encoding again yields fewer keys than there were.

    `":` stands behind every key; inside a string it can only be `\":`, which is lost or kept with its string.
    """
    return _encoder.encode(decoded).count(b'":') == json.count(b'":')


@contextmanager
def suspended() -> Iterator[None]:
    """No garbage collection meanwhile: all objects that a reader makes live on, and searching them takes longer.

    The time of a search grows with what is there already: a file of twice the size would take three times as long.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
