"""Reads documents of phases: the steps and files of a plan, the findings of a review. Unclear text gives None."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from aotloop.errors import AotError
from aotloop.importers.markdown import TICKED, read_markdown
from aotloop.importers.outline import Item, List, outline_of
from aotloop.text.shorten import short_line

_FILE = re.compile(
    r"(?<![\w./-])(?:\.?[\w-]+/)*\.?[\w-]+\.(?:[A-Za-z]\w{1,9}|[cdhmrs])(?![\w/-])|`(?:[\w.-]+/)+[\w.-]*`"
)
_CHOICE = re.compile(r"\s*[(\[](?:alternative|or|choice):?\s+([A-Za-z][\w-]{0,40})[)\]]", re.IGNORECASE)
_NO_FINDINGS = re.compile(r"^\W*no (?:open )?findings\W*$", re.IGNORECASE | re.MULTILINE)
_ACCEPTED = re.compile(r"\(accepted:\s*\S[^)]*\)", re.IGNORECASE)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    text: str
    needs: tuple[str, ...] = ()
    """Labels."""
    choice: str | None = None
    """Of steps that name the same file, one is enough."""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    open: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.open, *self.resolved, *self.accepted)


def files_in(text: str) -> tuple[str, ...]:
    """Names of files and folders, in their order."""
    return tuple(dict.fromkeys(found[0].strip("`") for found in _FILE.finditer(text)))


def steps_in(text: str) -> tuple[Step, ...]:
    """Steps of a plan that are not done yet; empty: it has none, or they cannot be separated."""
    try:
        pieces = read_markdown(text, "the plan").pieces
    except AotError:
        return ()
    return tuple(
        Step(
            label=piece.label,
            text=_CHOICE.sub("", piece.text),
            needs=tuple(dict.fromkeys(piece.needs)),
            choice=found[1].lower() if (found := _CHOICE.search(piece.text)) else None,
        )
        for piece in pieces
    )


def names_files_and_steps(text: str) -> bool:
    return bool(files_in(text)) and bool(steps_in(text))


def findings_in(text: str) -> Findings | None:
    """None: the document does not list findings."""
    try:
        items = [item for found in outline_of(text, "the review").lists for item in _boxed(found)]
    except AotError:
        return None
    if not items:
        return Findings() if _NO_FINDINGS.search(text) else None
    findings = [(short_line(item.text, 500), item.box or " ") for item in items]
    return Findings(
        open=tuple(text for text, box in findings if box not in TICKED),
        resolved=tuple(text for text, box in findings if box in TICKED and not _ACCEPTED.search(text)),
        accepted=tuple(text for text, box in findings if box in TICKED and _ACCEPTED.search(text)),
    )


def open_findings(text: str, before: Iterable[str]) -> tuple[str, ...] | None:
    """The findings of a review, and those of its versions `before` that the review does not mention any more."""
    now = findings_in(text)
    if now is None:
        return None
    known = {_bare(finding) for finding in now.all}
    gone = [
        finding
        for version in before
        for finding in (findings_in(version) or Findings()).all
        if _bare(finding) not in known and not any(_bare(finding) in other for other in known)
    ]
    return (*now.open, *dict.fromkeys(gone))


def _bare(finding: str) -> str:
    """The finding without its resolution."""
    return " ".join(_ACCEPTED.sub("", finding).lower().split())


def _boxed(found: List) -> Iterable[Item]:
    for item in found.items:
        if item.box is not None:
            yield item
        for inner in item.lists:
            yield from _boxed(inner)
