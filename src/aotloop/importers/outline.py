"""The outline of a Markdown file: headings, nested lists with their lines, and prose. Nothing is interpreted.

Only blocks are parsed. The text within a line stays as it is written, so no text takes long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

from aotloop.importers.plan import invalid
from aotloop.text.sanitize import plain

LARGEST = 1_000_000
"""Characters."""

DEEPEST = 30
"""The most levels of nested lists."""

_BOX = re.compile(r"\[(.)\](?:[ \t\n]+(.*)|)", re.DOTALL)


class Item(msgspec.Struct, kw_only=True):
    line: int
    box: str | None
    """The character in its checkbox; None if it has no checkbox."""
    text: str
    details: list[str]
    lists: list[List]
    headings: tuple[str, ...] = ()


class List(msgspec.Struct, kw_only=True):
    is_numbered: bool
    items: list[Item]


class Outline(msgspec.Struct, kw_only=True):
    title: str = ""
    lists: list[List] = []
    prose: list[str] = []
    """Blocks of prose, each as it was written."""


def outline_of(text: str, name: str) -> Outline:
    if len(text) > LARGEST:
        raise invalid(name, f"it is longer than {LARGEST} characters", "Is it a list of work?")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    parser = MarkdownIt("commonmark", {"maxNesting": 4 * DEEPEST}).disable("inline")
    return _Reading(parser.parse(text), text.split("\n"), name).outline()


class _Reading:
    def __init__(self, tokens: Sequence[Token], lines: list[str], name: str) -> None:
        self._tokens = tokens
        self._lines = lines
        self._name = name
        self._at = 0
        self._headings: dict[int, str] = {}

    def outline(self) -> Outline:
        result = Outline(lists=[], prose=[])
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.type == "heading_open":
                self._heading(result, int(token.tag[1:]))
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                result.lists.append(self._list(1))
            else:
                if token.level == 0 and token.map is not None and token.type not in ("html_block", "hr"):
                    result.prose.append(plain("\n".join(self._lines[slice(*token.map)])))
                self._at += 1
        return result

    def _heading(self, result: Outline, level: int) -> None:
        words = plain(self._tokens[self._at + 1].content)
        if level == 1 and not result.title:
            result.title = words
        else:
            kept = {above: text for above, text in self._headings.items() if above < level}
            self._headings = {**kept, level: words}
        self._at += 3

    def _list(self, depth: int) -> List:
        opening = self._tokens[self._at]
        if depth > DEEPEST:
            line = (opening.map or [0])[0] + 1
            raise invalid(self._name, f"line {line}: lists are nested deeper than {DEEPEST} levels")
        found = List(is_numbered=opening.type == "ordered_list_open", items=[])
        self._at += 1
        while self._tokens[self._at].type == "list_item_open":
            found.items.append(self._item(depth))
        self._at += 1
        return found

    def _item(self, depth: int) -> Item:
        opening = self._tokens[self._at]
        item = Item(line=(opening.map or [0])[0] + 1, box=None, text="", details=[], lists=[])
        item.headings = tuple(self._headings.values())
        texts: list[str] = []
        self._at += 1
        while (token := self._tokens[self._at]).type != "list_item_close" or token.level != opening.level:
            if token.type in ("bullet_list_open", "ordered_list_open"):
                item.lists.append(self._list(depth + 1))
                continue
            if token.type in ("inline", "fence", "code_block") and token.content.strip():
                texts.append(token.content)
            self._at += 1
        self._at += 1
        first, *item.details = [plain(text) for text in texts] or [""]
        match = _BOX.fullmatch(first)
        item.box, item.text = (match[1], plain(match[2] or "")) if match is not None else (None, first)
        return item
