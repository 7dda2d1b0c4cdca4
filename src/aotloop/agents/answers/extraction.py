"""Extraction of an answer: the last JSON object with the role's deciding key that is not part of another object.

One pass is enough. If the text cannot go on at some place, every start before that place in the same object fails there
too; so the search continues at that place, and not one character after the start. A string that never ends contains no
quote at which another string could begin. So every character is read only a few times, for any text.
"""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import msgspec

from aotloop.agents.answers.answer_schema import EXAMPLES
from aotloop.agents.roles import WAYS, Role
from aotloop.foreign_files import read_foreign

MOST_BYTES = 256 * 1024
"""The most bytes of an answer, in a file or at the end of the output. The sum of its longest parts is smaller."""

_DEEPEST = 50
_BEGINNING = re.compile(r'\{[ \t\r\n]*+"')
_TOKEN = re.compile(
    r"[ \t\r\n]*+(?:"
    r"(?P<mark>[{}\[\]:,])"
    r'|(?P<text>"(?:[^"\\\x00-\x1f]++|\\.)*+")'
    r"|(?P<other>true|false|null|NaN|-?Infinity|-?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)"
    r")"
)

_NEXT: dict[tuple[str, str], str] = {
    ("key or end", "text"): "colon",
    ("key", "text"): "colon",
    ("colon", ":"): "value",
    ("value", "text"): "comma",
    ("value", "other"): "comma",
    ("value or end", "text"): "comma",
    ("value or end", "other"): "comma",
}
"""The expected symbol and the next symbol give the following state. Brackets and commas depend on what is open."""


class NotAResult(ValueError):  # noqa: N818 - reads as a sentence where it is caught
    """Why the text of an agent is no answer, in words."""


class _Found(msgspec.Struct, frozen=True):
    end: int
    """The end of the object, or the place where it could not go on."""
    is_whole: bool
    has_key: bool


def find_answer(role: Role, text: str) -> str:
    """Raises NotAResult. Other JSON, fences and prose before and after do not matter."""
    key = WAYS[role].deciding_key
    answer: str | None = None
    broken: int | None = None
    position = 0
    while (beginning := _BEGINNING.search(text, position)) is not None:
        start = beginning.start()
        found = _object_at(text, start, key)
        position = found.end
        if found.has_key and found.is_whole:
            answer, broken = text[start : found.end], None
        elif found.has_key:
            broken = found.end
    if broken is not None:
        after = f"after {text[max(0, broken - 30) : broken]!r}"
        raise NotAResult(f"its last answer is not valid JSON: it breaks off {after}")
    if answer is None:
        raise NotAResult(f'there is no JSON object with "{key}" in what it printed; expected: {EXAMPLES[role]}')
    return answer


def _object_at(text: str, start: int, key: str) -> _Found:
    stack, expected, position, has_key = ["{"], "key or end", start + 1, False
    wanted = json.dumps(key)
    while stack:
        token = _TOKEN.match(text, position)
        if token is None:
            return _Found(position, is_whole=False, has_key=has_key)
        kind = token.lastgroup or ""
        word = token[kind]
        follows = _follows(stack, expected, word if kind == "mark" else kind)
        if follows is None:
            return _Found(token.start(kind), is_whole=False, has_key=has_key)
        if len(stack) == 1 and follows == "colon" and word == wanted:
            has_key = True
        expected, position = follows, token.end()
    return _Found(position, is_whole=True, has_key=has_key)


def _follows(stack: list[str], expected: str, symbol: str) -> str | None:
    """The symbols that may come after this one; None if this one may not come here."""
    if symbol in {"{", "["} and expected in {"value", "value or end"} and len(stack) < _DEEPEST:
        stack.append(symbol)
        return "key or end" if symbol == "{" else "value or end"
    if symbol in {"}", "]"}:
        empty = "key or end" if symbol == "}" else "value or end"
        if expected not in {"comma", empty} or stack[-1] != {"}": "{", "]": "["}[symbol]:
            return None
        stack.pop()
        return "comma"
    if symbol == "," and expected == "comma":
        return "key" if stack[-1] == "{" else "value"
    return _NEXT.get((expected, symbol))


def answer_in_file(path: Path) -> str | None:
    """None if there is no such file. The file belongs to the agent: it may be a link, a pipe, a folder, or endless."""
    try:
        content = read_foreign(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise NotAResult(f"its result file is longer than {MOST_BYTES} bytes") from None
        if error.errno == errno.EINVAL:
            raise NotAResult("its result file is not a regular file") from None
        raise NotAResult(f"its result file cannot be read: {error.strerror}") from None
    if not content.strip():
        raise NotAResult("its result file is empty")
    return content.decode("utf-8-sig", "replace")
