"""Masks the text of a file: what stands in quotes, in blocks of text and in comments is no syntax.

The screen looks for syntax that the fast reader must not see. A description may contain all of it: arrows, globs,
backticks, the word NULL. So a file that does not pass is screened again with its text masked. Only values that end in
their line, and blocks of text, are masked. If a quote opens a text that is not understood here, nothing is.
"""

from __future__ import annotations

import re
from functools import cache

DOUBLE = rb'"(?:[^"\\\n]|\\[^\n])*"'
SINGLE = rb"'(?:[^'\n]|'')*'"
_NOT_NULL = rb"(?!(?:Null|NULL)(?![^\s,\]}\#])|\.\.\.)"  # nor the end of a document
KEY = rb"(?:[\w.][\w ./@+-]*|%s|%s)[ ]*:" % (DOUBLE, SINGLE)
WORDS = _NOT_NULL + rb"[\w./+-][\w./+@=-]*(?:[ ][\w./+@=-]+)*"
ITEM = rb"(?:%s|%s|%s)[ ]*" % (DOUBLE, SINGLE, WORDS)
_LIST = rb"\[[ ]*(?:%s(?:,[ ]*%s)*)?\]" % (ITEM, ITEM)
_PAIR = rb"\w+:[ ]+(?:%s|%s[ ]*)" % (ITEM, _LIST)
_PAIRS = rb"\{[ ]*(?:%s(?:,[ ]*%s)*)?\}" % (_PAIR, _PAIR)
_PLAIN = _NOT_NULL + rb"[\w\x80-\xff./(](?:[^\n\r:#]|:(?=[^\s])|(?<=[^\s])#)*"
_VALUE = rb"(?:%s|%s|%s|%s|%s)" % (DOUBLE, SINGLE, _LIST, _PAIRS, _PLAIN)
_COMMENT = rb"[ ]*(?:(?<=[ ])#[^\n]*)?(?=\r?(?:\n|\Z))"

_LINE = rb"^[ ]*(?:-[ ]+){0,8}(?:%s(?:[ ]+%s)?|%s)%s" % (KEY, _VALUE, _VALUE, _COMMENT)
_COMMENT_LINE = rb"^[ ]*\#[^\n]*"
_OPEN_QUOTE = rb"""(?:^[ ]*(?:-[ ]+)*|:[ ]+|[\[{,][ ]*)["']"""
_HEADER = rb"^(?P<before>[ ]*(?:-[ ]+)*)(?P<key>%s[ ]+)?[|>][-+]?[ ]*\r?\n" % KEY
_HEADER_END = rb"[|>][-+]?[ ]*\r?\n"


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.MULTILINE)


def masked(yaml: bytes) -> bytes | None:
    """The syntax of some YAML; None if it cannot be told from text."""
    without_blocks = _without_blocks(yaml)
    if without_blocks is None:
        return None
    syntax = _compiled(_LINE).sub(b"x", _compiled(_COMMENT_LINE).sub(b"", without_blocks))
    return None if _compiled(_OPEN_QUOTE).search(syntax) else syntax


def has_open_quote(yaml: bytes) -> bool:
    """Whether a quote in this YAML without blocks opens a text that is not understood here."""
    lines = (line for line in yaml.split(b"\n") if b'"' in line or b"'" in line)
    masks = (_compiled(_LINE).sub(b"x", _compiled(_COMMENT_LINE).sub(b"", line)) for line in lines)
    return any(_compiled(_OPEN_QUOTE).search(mask) for mask in masks)


def _without_blocks(yaml: bytes) -> bytes | None:
    found = stretches(yaml)
    return b"".join([text if before is None else before + b"x\n" for text, before in found]) if found else None


def stretches(yaml: bytes) -> list[tuple[bytes, bytes | None]] | None:
    """The YAML in turn without and with blocks of text. With a block: what stands before its key. None: not certain."""
    if _compiled(_HEADER_END).search(yaml) is None:
        return [(yaml, None)]
    kept: list[tuple[bytes, bytes | None]] = []
    place = 0
    for header in _compiled(_HEADER).finditer(yaml):
        if header.start() < place:
            continue  # a line of the block before looks like a header
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
    indent, here = None, start
    while here < len(yaml):
        end = yaml.find(b"\n", here) + 1 or len(yaml)
        line = yaml[here:end].rstrip(b"\r\n")
        text = line.lstrip(b" ")
        deep = len(line) - len(text)
        if not text:
            if indent is None and deep:
                return None  # readers differ in what leading blanks mean
        elif deep <= least:
            break
        elif text.startswith(b"\t") or (indent is not None and deep < indent):
            return None
        else:
            indent = deep if indent is None else indent
        here = end
    return here
