"""Markdown plans: a list of work in PROMPT.md, fix_plan.md or any other file.

If any item has a checkbox, the items with a checkbox are the work, `[x]` is done, and all other bullets are notes. If
no item has one, every item of an outermost list is work. An item waits for the items inside it. In a numbered list,
each item waits for the previous one. `(depends on T1, T2)` names dependencies. Headings and prose are background.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from aotloop.importers.outline import Item, List, Outline, outline_of
from aotloop.importers.plan import Piece, Plan, invalid, paragraphs, plan_of
from aotloop.text.shorten import PHRASE, short_line

TICKED = "xX✓✔"

_LABEL = re.compile(r"(?:\*\*|__|`)?([A-Z][A-Za-z]{0,9}[-_]?\d+(?:\.\d+)*|\d+(?:\.\d+)+|\d+(?=[.:)]))(?![\w-])")
_NAME = re.compile(r"[A-Za-z]{0,10}[-_]?\d+(?:\.\d+)*")
_CLAUSE = re.compile(r"[(\[](?:depends on|after|needs|requires|blocked by):?\s+([^)\]]{1,300})[)\]]", re.IGNORECASE)
_FINISHED = re.compile(r"(?:completed|done|finished)\b", re.IGNORECASE)
_NOTES = re.compile(r"(?:notes?|context|background|references?|learnings?|rules|guidelines)\b", re.IGNORECASE)


class _Work(msgspec.Struct, kw_only=True):
    """An item that is work, with the work inside it."""

    item: Item
    notes: list[str]
    parts: list[list[_Work]]
    """One entry for each inner list."""
    follows: _Work | None = None
    """The previous item in a numbered list."""
    is_done: bool = False


def read_markdown(text: str, name: str) -> Plan:
    outline = outline_of(text, name)
    has_boxes = any(item.box is not None for found in outline.lists for item in _all(found))
    prose = list(outline.prose)
    works = list(_marked(outline, prose) if has_boxes else _outermost(outline, prose))
    every = [work for top in works for work in _nested(top)]
    warnings = [f"line {work.item.line}: an item without words is left out" for work in every if not work.item.text]
    warnings += [
        f"line {work.item.line}: [{work.item.box}] is taken as not done"
        for work in every
        if work.item.box is not None and work.item.box not in f" {TICKED}"
    ]
    labels = _Labels(every, name)
    pieces = [piece for top in works for piece in _pieces(top, (), labels)]
    return plan_of(pieces, name=name, title=outline.title, background=paragraphs(*prose), warnings=warnings)


# --- items of work -----------------------------------------------------------------------------------------------


def _all(found: List) -> Iterator[Item]:
    for item in found.items:
        yield item
        for inner in item.lists:
            yield from _all(inner)


def _nested(work: _Work) -> Iterator[_Work]:
    yield work
    for part in work.parts:
        for inner in part:
            yield from _nested(inner)


def _marked(outline: Outline, prose: list[str]) -> Iterator[_Work]:
    for found in outline.lists:
        yield from _marked_in(found, prose)


def _marked_in(found: List, notes: list[str]) -> list[_Work]:
    """Items without a checkbox are notes of their parent item. The work inside them is still found."""
    works: list[_Work] = []
    for item in found.items:
        if item.box is None:
            notes.append(f"- {paragraphs(item.text, *item.details)}")
            for inner in item.lists:
                works += _marked_in(inner, notes)
            continue
        work = _Work(item=item, notes=[], parts=[], is_done=item.box in TICKED)
        work.follows = works[-1] if works and found.is_numbered else None
        work.parts = [_marked_in(inner, work.notes) for inner in item.lists]
        works.append(work)
    return works


def _outermost(outline: Outline, prose: list[str]) -> Iterator[_Work]:
    for found in outline.lists:
        before: _Work | None = None
        for item in found.items:
            inner = [f"- {paragraphs(note.text, *note.details)}" for below in item.lists for note in _all(below)]
            if any(_NOTES.match(heading) for heading in item.headings):
                prose.append("\n".join([f"- {paragraphs(item.text, *item.details)}", *inner]))
                continue
            work = _Work(item=item, notes=inner, parts=[], follows=before)
            work.is_done = any(_FINISHED.match(heading) for heading in item.headings)
            before = work if found.is_numbered else None
            yield work


# --- labels and dependencies ------------------------------------------------------------------------------------


class _Labels:
    """The labels of items. A label of several items names none of them; each is then named by its line."""

    def __init__(self, works: list[_Work], name: str) -> None:
        self._name = name
        labels = {id(work): match[1] for work in works if (match := _LABEL.match(work.item.text))}
        self._counts = Counter(labels.values())
        self._own = {key: label for key, label in labels.items() if self._counts[label] == 1}

    def of(self, work: _Work) -> str:
        return self._own.get(id(work), f"line {work.item.line}")

    def needs(self, work: _Work) -> Iterator[str]:
        for clause in _CLAUSE.findall(work.item.text):
            names = [label.lstrip("#") for label in re.split(r"[,;&\s]+|\band\b", clause) if label and label != "and"]
            if not all(map(_NAME.fullmatch, names)):
                continue  # "(after lunch)"
            for label in names:
                if self._counts[label] > 1:
                    raise invalid(
                        self._name,
                        f"line {work.item.line}: it depends on {short_line(label, PHRASE)},"
                        " which is the name of several items",
                    )
                yield label


def _pieces(work: _Work, before: tuple[str, ...], labels: _Labels) -> Iterator[Piece]:
    """The inner items come first, because they must be done first."""
    item = work.item
    needs = [*before, *labels.needs(work)]
    if work.follows is not None:
        needs += [labels.of(work.follows)] if work.follows.item.text else []
    for part in work.parts:
        for inner in part:
            yield from _pieces(inner, tuple(needs), labels)
    if not item.text:
        return
    inside = [labels.of(inner) for part in work.parts for inner in part if inner.item.text]
    yield Piece(
        label=labels.of(work),
        place=f"line {item.line}",
        text=paragraphs(
            item.text,
            *item.details,
            "\n".join(work.notes),
            f"(From the list under: {', '.join(map(short_line, item.headings))})" if item.headings else "",
        ),
        needs=(*needs, *inside),
        done=work.is_done,
    )
