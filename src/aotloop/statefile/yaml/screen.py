"""The screen for the fast reader: which YAML it may read.

rapidyaml accepts some input that other readers refuse; such input is kept from it. All functions examine bytes, most of
them at memory speed. A false alarm only costs time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Patterns stay text: `re` compiles and caches the used ones, and most files need few of them.
_CONTROLS = bytes(set(range(32)) - {0x09, 0x0A, 0x0D}) + b"\x7f"
_TOKEN_STARTS = (b"&", b"*", b"!", b"@", b"`", b"~", b"%", b"?", b"<")
"""The first character of an anchor, an alias, a tag, a merge, a complex key, or a reserved token."""
_BLOCK_STARTS = (b"|", b">")
_BEFORE_TOKEN = b"\n\r:-?[{,"
_ODD_UNICODE = rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]"

_ODD_NULL = rb"(?:Null|NULL)[ ]*(?:[,\]}:]|[ ]#|\r?(?:\n|\Z))"
"""Rapidyaml takes these for text. Inside of a sentence they are text."""

_ODD_PIECES = (b"\t", b": }", b": ]", b"- }", b"- ]", b":]", b":}")
"""A tab, and a value that begins with the end of a collection."""

_COLON_IN_LIST = rb"\[[^\]\n]*[:?]"
_LISTS = (bytes.maketrans(b"\n?", b"]:"), bytes(set(range(256)) - set(b"\n[]:?")))
"""Keeps only the ends of lists and lines, and colons: a quick test before the pattern above."""
_TIGHT_COLON = rb"""[:?][^\s\[{"']"""
_ITEM_BEHIND_TEXT = rb"['\"] +- "
_MOST_HASHES = 8
_BLOCK_HEADER = rb"[|>][-+\d]* *\r?\n"
_ONE_LINE_SCALAR = rb"""(?s) *(?:- +)*[\w.-]+: +(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\w[^#]*) *(?:#.*)?\r?"""
_EARLY_END = rb"(?:[ ]*(?:#[^\n]*)?\n)*\.\.\."
_DEEP_BLOCK = rb"(?:[-?][ \t]+){32}"
_MOST_OPEN_BRACKETS = 500
_LONG_LINE = 2000
_PIECE = 1 << 16
_MOST_COMMENTS = 100
"""With more of them, masking takes less time than looking at each."""
_BYTES_OF_TEXT = 40
"""With fewer for each rare character: as above."""
_RARE = b"".join((*_TOKEN_STARTS, *_BLOCK_STARTS))
_NOT_BRACKETS_OR_LINES = bytes(set(range(256)) - set(b"[]{}\n"))


def is_ordinary(yaml: bytes) -> bool:
    """Whether rapidyaml reads this like every other YAML reader, or reports that it cannot."""
    return _may_be_ordinary(yaml) and (_is_ordinary_at_first_sight(yaml) or _is_ordinary_masked(yaml))


def ordinary_form(yaml: bytes) -> bytes | None:
    """YAML with the same values that rapidyaml reads like every other YAML reader; None: it is not certain."""
    if not _may_be_ordinary(yaml):
        return None
    if _is_ordinary_at_first_sight(yaml):
        return yaml
    from aotloop.statefile.yaml.plain_form import plain_form  # noqa: PLC0415 - most files are ordinary at first sight

    form = plain_form(yaml)
    if form is None:
        return yaml if _is_ordinary_masked(yaml) else None
    return form if _is_ordinary_at_first_sight(form) or _is_ordinary_masked(form) else None


def _may_be_ordinary(yaml: bytes) -> bool:
    is_empty = not yaml or yaml.isspace()
    return not (is_empty or re.match(_EARLY_END, yaml) is not None or _has_odd_character(yaml))


def _is_ordinary_at_first_sight(yaml: bytes) -> bool:
    if yaml.count(b"#") > _MOST_COMMENTS:
        return False
    most_rare = _MOST_COMMENTS + len(yaml) // _BYTES_OF_TEXT
    return len(yaml) - len(yaml.translate(None, _RARE)) <= most_rare and not _has_odd_syntax(yaml)


def _is_ordinary_masked(yaml: bytes) -> bool:
    from aotloop.statefile.yaml.text_mask import masked  # noqa: PLC0415 - most files are ordinary at first sight

    syntax = masked(yaml)
    return syntax is not None and not _has_odd_syntax(syntax)


def _has_odd_character(yaml: bytes) -> bool:
    """Bytes that are suspicious even inside of a text."""
    if b"\r" in yaml and yaml.count(b"\r") != yaml.count(b"\r\n"):
        return True
    if not yaml.isascii():
        try:
            _decode(yaml)
        except UnicodeDecodeError:
            return True
        if re.search(_ODD_UNICODE, yaml) is not None:
            return True
    return len(yaml.translate(None, _CONTROLS)) < len(yaml)


def _decode(yaml: bytes) -> None:
    """In pieces that end with a line: a large file as text takes four times its size. No character spans two lines."""
    begin = 0
    while begin < len(yaml):
        end = yaml.find(b"\n", begin + _PIECE) + 1 or len(yaml)
        yaml[begin:end].decode()
        begin = end


def _has_odd_syntax(yaml: bytes) -> bool:
    return (
        any(odd in yaml for odd in _ODD_PIECES)
        or ((b"Null" in yaml or b"NULL" in yaml) and re.search(_ODD_NULL, yaml) is not None)
        or any(_begins_token(yaml, place) for place in _places(yaml, _TOKEN_STARTS))
        or _has_odd_flow(yaml)
    )


def _places(yaml: bytes, characters: tuple[bytes, ...]) -> Iterator[int]:
    """The positions of some rare characters. A search for one byte is faster than any pattern."""
    for character in characters:
        place = yaml.find(character)
        while place != -1:
            yield place
            place = yaml.find(character, place + 1)


def _begins_token(yaml: bytes, place: int) -> bool:
    """Whether a rare character could be YAML syntax and not part of a text."""
    character, following = yaml[place : place + 1], yaml[place + 1 : place + 2]
    if character in b"?<" and following not in (b" ", b"\n", b"\r", b"<", b":"):
        return False
    return yaml[max(0, place - 200) : place].rstrip(b" ")[-1:] in _BEFORE_TOKEN


def _has_odd_flow(yaml: bytes) -> bool:
    """A flow collection over several lines, with a comment inside, or with colons that do not end a key."""
    brackets = _without_pairs(yaml.translate(None, _NOT_BRACKETS_OR_LINES))
    if brackets.strip(b"\n") and (may_nest_deeply(yaml) or any(map(_is_unbalanced, yaml.split(b"\n")))):
        return True
    return (
        _has_deep_block(yaml)
        or any(map(_has_comment_in_flow, _lines_with(yaml, b"#")))
        or (b"[:" in yaml.translate(*_LISTS) and re.search(_COLON_IN_LIST, yaml) is not None)
        or any(map(_has_tight_colon, _lines_with(yaml, b"{")))
        or any(_is_odd_block(yaml, place) for place in _places(yaml, _BLOCK_STARTS))
        or any(re.search(_ITEM_BEHIND_TEXT, line) for quote in (b"' ", b'" ') for line in _lines_with(yaml, quote))
    )


def _is_unbalanced(line: bytes) -> bool:
    """Whether a line leaves a flow collection open, or closes one of an earlier line. Brackets in text do not count."""
    brackets = _without_pairs(line.translate(None, _NOT_BRACKETS_OR_LINES))
    return bool(brackets) and re.fullmatch(_ONE_LINE_SCALAR, line) is None


def _has_comment_in_flow(line: bytes) -> bool:
    parts = line.split(b" #")
    return len(parts) > _MOST_HASHES or any(
        _is_unbalanced(b" #".join(parts[:number])) for number in range(1, len(parts))
    )


def _has_tight_colon(line: bytes) -> bool:
    return re.search(_TIGHT_COLON, line) is not None and re.fullmatch(_ONE_LINE_SCALAR, line) is None


def _is_odd_block(yaml: bytes, place: int) -> bool:
    """Whether a block of text begins here and its line contains more than the block indicators."""
    return _begins_token(yaml, place) and re.match(_BLOCK_HEADER, yaml[place : place + 80]) is None


def _lines_with(yaml: bytes, text: bytes) -> Iterator[bytes]:
    """Every line that contains some text, once."""
    place = yaml.find(text) if text[:1] in yaml else -1  # a search for one byte is much faster than for two
    while place != -1:
        end = yaml.find(b"\n", place)
        end = len(yaml) if end == -1 else end
        yield yaml[yaml.rfind(b"\n", 0, place) + 1 : end]
        place = yaml.find(text, end)


def may_nest_deeply(yaml: bytes) -> bool:
    """A cheap suspicion: parsers recurse, and a hostile file could nest until they overflow the stack."""
    brackets = _without_pairs(yaml.translate(None, _NOT_BRACKETS_OR_LINES).replace(b"\n", b""))
    opened = brackets.count(b"[") + brackets.count(b"{")
    return opened > _MOST_OPEN_BRACKETS or _has_deep_block(yaml)


def _has_deep_block(yaml: bytes) -> bool:
    return _has_long_line(yaml) and re.search(_DEEP_BLOCK, yaml) is not None


def _without_pairs(brackets: bytes) -> bytes:
    """The brackets that remain after removing the innermost four levels."""
    for _ in range(4):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return brackets


def _has_long_line(yaml: bytes) -> bool:
    """Blocks nest by indentation, or several in one line. So without a line of this length they are not deep."""
    starts = range(0, len(yaml) - _LONG_LINE, _LONG_LINE)
    return any(yaml.find(b"\n", start, start + _LONG_LINE) == -1 for start in starts)
