"""Strict JSON, for a file that other tools write too. Input that JSON readers treat differently is refused.

Refused are duplicate keys, NaN and Infinity, numbers out of range, halves of surrogate pairs, and text that is not
UTF-8. A byte order mark and CRLF, which editors add, are read and kept.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from typing import Any, NoReturn

from aotloop.core.findings import Finding
from aotloop.errors import StateFileInvalid
from aotloop.text.shorten import PHRASE, shorten

MOST_BYTES = 16 * 1024 * 1024
MOST_LEVELS = 100
"""The most levels of nested lists and objects, far from the limit of any stack."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')


class _RefusedError(ValueError):
    pass


def parse(data: bytes) -> Any:
    """Plain data. Raises StateFileInvalid, with line and column where they are known."""
    if len(data) > MOST_BYTES:
        raise _invalid(f"the file is larger than {MOST_BYTES // (1024 * 1024)} MiB, which no loop needs")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} is not valid UTF-8; save the file as UTF-8"
        raise _invalid(what, data[: error.start].decode(errors="replace")) from None
    _refuse_deep_nesting(text)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise _invalid(f"not readable as JSON: {error.msg}", text[: error.pos]) from None
    except ValueError as error:
        what = str(error) if isinstance(error, _RefusedError) else "a number is too long"
        raise _invalid(what) from None
    if _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise _invalid("half of a surrogate pair (\\ud800 to \\udfff alone) is no text")
    return value


def render(value: Any, like: bytes = b"") -> bytes:
    """Two spaces a level and a line break at the end. The byte order mark and line breaks are those of `like`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    if b"\r\n" in like:
        text = text.replace("\n", "\r\n")  # inside text values a line break is written as \n
    mark = codecs.BOM_UTF8 if like.startswith(codecs.BOM_UTF8) else b""
    return mark + text.encode()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _RefusedError(f"the key {_short(twice)} occurs twice in the same object; keep one of them")
    return found


def _no_number(name: str) -> NoReturn:
    raise _RefusedError(f"{name} is no number in JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise _RefusedError(f"the number {_short(digits)} is out of range")
    return number


def _refuse_deep_nesting(text: str) -> None:
    """Called before any recursive code sees the text."""
    if text.count("{") + text.count("[") <= MOST_LEVELS:
        return
    level = 0
    for match in re.finditer(r"[\[{\]}]", _STRINGS.sub(lambda found: " " * len(found[0]), text)):
        level += 1 if match[0] in "[{" else -1
        if level > MOST_LEVELS:
            raise _invalid(f"nested deeper than {MOST_LEVELS} levels", text[: match.start()])


def _short(text: str) -> str:
    return repr(shorten(text, PHRASE))


def _invalid(what: str, before: str | None = None) -> StateFileInvalid:
    line = column = None
    if before is not None:
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    finding = Finding("error", (), what, line=line, column=column)
    return StateFileInvalid(str(finding), [finding])
