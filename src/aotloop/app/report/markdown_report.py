"""The report as Markdown for a pull request: short, with the evidence folded.

Foreign text cannot become markup there: it makes no heading, link or picture, names no account and closes no issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from aotloop.app.diagram.styles import STYLES
from aotloop.app.history.attempts import Attempt
from aotloop.app.history.costs import spending
from aotloop.app.history.trail_entries import HistoryEntry
from aotloop.app.overview.checklist_view import BaseItem
from aotloop.app.report.foreign_text import ForeignText, Room, unlinked
from aotloop.app.report.html_report import Report
from aotloop.app.report.html_sections import STATES, SYMBOLS
from aotloop.app.report.report_facts import AtomReport, ReportFacts, known_secrets, report_facts
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.phrases import counted, lasting

MOST_BYTES = 60_000
"""Services refuse texts of pull requests with more than 65,536 characters."""
LONGEST_EVIDENCE = 1500
FIXED = 9_000

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~$&-])")


def markdown_report(store: Store, most_bytes: int = MOST_BYTES) -> Report:
    facts = report_facts(store)
    written = _Loop(ForeignText(known_secrets(Path(project_root(store.path)))), Room(most_bytes - FIXED))
    return finished(written, written.parts(facts))


def finished(written: Markdown, parts: Iterable[str]) -> Report:
    lines = [line for part in parts for line in (part, "") if part]
    if written.room.left_out:
        counts = ", ".join(f"{count:,} {what}" for what, count in written.room.left_out.items())
        lines += [f"_Left out: {counts}. `aot report` has more._", ""]
    return Report(text="\n".join(lines), left_out=written.room.left_out)


class Markdown:
    """Foreign text as Markdown, in a room of limited size."""

    def __init__(self, foreign: ForeignText, room: Room) -> None:
        self._foreign = foreign
        self.room = room

    def list(self, head: str, lines: Iterable[str], what: str) -> str:
        fitting = [line for line in lines if self.room.take(line, what)]
        return "\n".join([head, "", *fitting]) if fitting else ""

    def folded(self, head: str, evidence: str) -> str:
        """The head stands in HTML, where nothing of Markdown is known, also no backslash."""
        text = self._foreign.shown_block(evidence, LONGEST_EVIDENCE)
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
        summary = escape(unlinked(self._foreign.shown_line(head, 300)))
        return f"<details><summary>{summary}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>"

    def line(self, text: str, most: int = 300) -> str:
        return _SPECIAL.sub(r"\\\1", unlinked(self._foreign.shown_line(text, most)))


class _Loop(Markdown):
    def parts(self, facts: ReportFacts) -> Iterator[str]:
        yield f"## {self.line(facts.head.goal)}"
        yield self._outcome(facts)
        yield self.list(f"### Is it done?\n\n{self._verdict(facts)}", self._items(facts.base_case.items), "items")
        yield self.list("### What was done", map(self._atom, facts.atoms), "atoms")
        yield self.list("### What failed, and what was taken back", map(self._entry, facts.failures), "failures")
        yield from (self.room.take(line, "checks") for line in self._evidence(facts))

    def _outcome(self, facts: ReportFacts) -> str:
        head = facts.head
        numbers = [
            f"**{self.line(head.status)}**",
            f"{head.resolved} of {counted(head.required, 'required atom')} resolved",
            counted(len(facts.attempts), "attempt"),
            *spending(head.cost_usd, facts.used, head.max_cost_usd),
            lasting(head.ran_seconds),
        ]
        reason = f"\n\n{self.line(head.stop_reason)}" if head.stop_reason else ""
        return " · ".join(numbers) + reason

    def _verdict(self, facts: ReportFacts) -> str:
        view = facts.base_case
        words = {True: "It holds", False: "It does not hold", None: "It is not decided"}[view.passed]
        return f"{words}{f' at `{view.commit[:12]}`' if view.commit and view.commit.isalnum() else ''}."

    def _items(self, items: Sequence[BaseItem], depth: int = 0) -> Iterator[str]:
        for item in items:
            yield f"{'  ' * min(depth, 6)}- {SYMBOLS[item.state]} {self.line(item.name)} ({STATES[item.state]})"
            yield from self._items(item.children, depth + 1)

    def _atom(self, atom: AtomReport) -> str:
        agents = ", ".join(dict.fromkeys(attempt.agent or "a command" for attempt in atom.attempts))
        by = f", by {self.line(agents, 80)}" if agents else ""
        tried = f", {counted(len(atom.attempts), 'attempt')}" if atom.attempts else ""
        commits = [item.commit[:10] for item in atom.attempts if item.commit and item.fate == "landed"]
        landed = f", {commits[-1]}" if commits and commits[-1].isalnum() else ""
        style, text = STYLES[atom.look], self.line(atom.summary or atom.description, 200)
        return f"- {style.symbol} **{self.line(atom.id, 80)}** {text} ({style.words}{by}{tried}{landed})"

    def _entry(self, entry: HistoryEntry) -> str:
        return f"- {self.line(entry.kind, 40)}: {self.line(entry.text)}"

    def _evidence(self, facts: ReportFacts) -> Iterator[str]:
        for item in _leaves(facts.base_case.items):
            if item.evidence.strip():
                yield self.folded(f"{SYMBOLS[item.state]} {item.path}", item.evidence)
        for attempt in facts.attempts:
            yield from self._checks(attempt)

    def _checks(self, attempt: Attempt) -> Iterator[str]:
        for part in attempt.checks:
            symbol = {True: "✔", False: "✘", None: "?"}[part.passed]
            if part.evidence.strip():
                yield self.folded(f"{symbol} {attempt.name}: {part.name}", part.evidence)


def _leaves(items: Sequence[BaseItem]) -> Iterator[BaseItem]:
    for item in items:
        if item.children:
            yield from _leaves(item.children)
        else:
            yield item
