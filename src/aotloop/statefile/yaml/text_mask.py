"""Masks the text of a file: what stands in quotes, in blocks of text and in comments is no syntax.

The screen looks for syntax that the fast reader must not see. A description may contain all of it: arrows, globs,
backticks, the word NULL. So a file that does not pass is screened again with its text masked. Only values that end in
their line, and blocks of text, are masked. If a quote opens a text that is not understood here, nothing is.
"""

from __future__ import annotations

import re
from functools import cache

# Each star takes a whole stretch of text, and no two of them can take the same: so a long line costs a search of it.
DOUBLE = rb'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"'
SINGLE = rb"'[^'\n]*(?:''[^'\n]*)*'"
_NOT_NULL = rb"(?!(?:Null|NULL)[ \t]*(?:[,\]}:]|[ \t]\#|\r?(?:\n|\Z))|\.\.\.)"  # nor the end of a document
KEY = rb"(?:%s[\w.][\w ./@+-]*|%s|%s)[ ]*:" % (_NOT_NULL, DOUBLE, SINGLE)
WORDS = _NOT_NULL + rb"[\w./+-][\w./+@=-]*(?:[ ][\w./+@=-]+)*"
ITEM = rb"(?:%s|%s|%s)[ ]*" % (DOUBLE, SINGLE, WORDS)
_LIST = rb"\[[ ]*(?:%s(?:,[ ]*%s)*)?\]" % (ITEM, ITEM)
_PAIR = rb"\w+:[ ]+(?:%s|%s[ ]*)" % (ITEM, _LIST)
_PAIRS = rb"\{[ ]*(?:%s(?:,[ ]*%s)*)?\}" % (_PAIR, _PAIR)
_PLAIN = _NOT_NULL + rb"[\w\x80-\xff./(][^\n\r:#]*(?:(?::(?=[^\s])|(?<=[^\s])#)[^\n\r:#]*)*"
_VALUE = rb"(?:%s|%s|%s|%s|%s)" % (DOUBLE, SINGLE, _LIST, _PAIRS, _PLAIN)
_COMMENT = rb"[ ]*(?:(?<=[ ])#[^\n]*)?(?=\r?(?:\n|\Z))"

_LINE = rb"^[ ]*(?:-[ ]+){0,8}(?:%s(?:[ ]+%s)?|%s)%s" % (KEY, _VALUE, _VALUE, _COMMENT)
_COMMENT_LINE = rb"^[ ]*\#[^\n]*"
_OPEN_QUOTE = rb"""(?:^[ ]*(?:-[ ]+)*|:[ ]+|[\[{,][ ]*)["']"""
_HEADER = rb"^(?P<before>[ ]*(?:-[ ]+)*)(?P<key>%s[ ]+)?[|>][-+]?[ ]*\r?\n" % KEY
_FIRST_OF_BLOCK = rb"(?:\r?\n)*(?P<indent>[ ]*)(?P<text>[^ \r\n]?)"
_HEADER_END = rb"[|>][-+]?[ ]*\r?\n"


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.MULTILINE)


def masked(yaml: bytes) -> bytes | None:
    """The syntax of some YAML; None if it cannot be told from text."""
    without_blocks = _without_blocks(yaml)
    return None if without_blocks is None else _syntax_of(without_blocks)


def has_open_quote(yaml: bytes) -> bool:
    """Whether a quote in this YAML without blocks opens a text that is not understood here."""
    return _syntax_of(b"\n".join([line for line in yaml.split(b"\n") if b'"' in line or b"'" in line])) is None


def _syntax_of(lines: bytes) -> bytes | None:
    syntax = _compiled(_LINE).sub(b"x", _compiled(_COMMENT_LINE).sub(b"", lines))
    return None if _compiled(_OPEN_QUOTE).search(syntax) else syntax


def _without_blocks(yaml: bytes) -> bytes | None:
    found = stretches(yaml)
    return b"".join([text if before is None else before + b"x\n" for text, before in found]) if found else None


def stretches(yaml: bytes) -> list[tuple[bytes, bytes | None]] | None:
    """The YAML in turn without and with blocks of text. With a block: what stands before its key. None: not certain."""
    if _compiled(_HEADER_END).search(yaml) is None:
        return [(yaml, None)]
    kept: list[tuple[bytes, bytes | None]] = []
    place = 0
    for found in _compiled(_HEADER_END).finditer(yaml):
        if found.start() < place:
            continue  # a line of the block before looks like a header
        header = _compiled(_HEADER).match(yaml, yaml.rfind(b"\n", 0, found.start()) + 1)
        if header is None:
            continue
        before = header["before"]
        # The lines of a block are deeper than its key, or than its dash if there is no key.
        least = len(before) if header["key"] is not None else max(before.rfind(b"-"), 0)
        end = _end_of_block(yaml, header.end(), least)
        if end is None:
            return None
        kept += [(yaml[place : header.start()], None), (yaml[header.start() : end], before)]
        place = end
    return [*kept, (yaml[place:], None)]


def _end_of_block(yaml: bytes, start: int, least: int) -> int | None:
    """Where the block ends that begins here; None if its lines are not aligned."""
    behind = _compiled(rb"^[ ]{0,%d}[^ \r\n]" % least).search(yaml, start)
    end = behind.start() if behind is not None else len(yaml)
    first = _compiled(_FIRST_OF_BLOCK).match(yaml, start, end)
    indent = len(first["indent"]) if first is not None else 0
    if first is None or not first["text"]:
        return None if indent else end  # readers differ in what leading blanks mean
    is_odd = _compiled(rb"^(?:[ ]{0,%d}[^ \r\n]|[ ]*\t)" % (indent - 1)).search(yaml, first.start("indent"), end)
    return end if is_odd is None else None
