"""The report as one HTML file: it needs no script, no network and no other file, and has a largest size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from aotloop.app.report import html_atoms, html_sections
from aotloop.app.report.foreign_text import ForeignText, Room
from aotloop.app.report.html_sections import section
from aotloop.app.report.report_facts import ReportFacts, known_secrets, report_facts
from aotloop.app.report.timeline_picture import timeline_svg
from aotloop.app.show import changes_of
from aotloop.clock import now
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store

MOST_BYTES = 5_000_000
_FIXED = 400_000
"""Reserved for parts that are never left out: style sheet, objective, tables of costs."""
_CONTENTS = {
    "asked": "What was asked",
    "base-case": "Is it done?",
    "graph": "The work graph",
    "timeline": "Timeline",
    "atoms": "What was done",
    "failures": "What failed, and what was taken back",
    "cost": "Cost",
    "log": "Everything that happened",
}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    left_out: dict[str, int]
    """Kinds of content that did not fit, and how many of each."""


def html_report(store: Store, most_bytes: int = MOST_BYTES) -> Report:
    facts = report_facts(store)
    foreign, room = ForeignText(known_secrets(Path(project_root(store.path)))), Room(most_bytes - _FIXED)
    bodies = _bodies(store, facts, foreign, room)
    head = html_sections.outcome(facts, foreign)
    text = document(foreign, room, facts.head.goal, head, _contents(bodies), folder=facts.head.folder)
    return Report(text=text, left_out=room.left_out)


def _contents(bodies: dict[str, str]) -> list[tuple[str, str, str]]:
    return [(name, title, bodies[name]) for name, title in _CONTENTS.items() if bodies[name]]


def document(
    foreign: ForeignText, room: Room, title: str, head: str, parts: Sequence[tuple[str, str, str]], *, folder: str
) -> str:
    """`parts`: name, title and body of each section. All but the title is HTML."""
    links = "".join(f'<li><a href="#{name}">{shown}</a></li>' for name, shown, _ in parts)
    sections = "\n".join(section(*part) for part in parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{foreign.line(title, 100)}</title>
<style>
{_style()}
</style>
</head>
<body>
<main>
<header>
<h1>{foreign.line(title)}</h1>
{head}
</header>
<nav aria-label="Contents"><ul>{links}</ul></nav>
{sections}
</main>
<footer>{html_sections.left_out(room)}<p>Made by aotloop at {now()}, from
{foreign.line(Path(folder).name)}. Secrets of known forms are replaced by [secret]; prompts and transcripts
are not included.</p></footer>
</body>
</html>
"""


def _bodies(store: Store, facts: ReportFacts, foreign: ForeignText, room: Room) -> dict[str, str]:
    """The most important part first; the page has another order."""
    bodies = {
        "asked": html_sections.asked(facts, foreign),
        "base-case": html_sections.base_case(facts, foreign, room),
        "graph": html_sections.graph(facts.picture, foreign, room),
        "timeline": room.take(timeline_svg(facts.attempts, facts.marks, foreign, facts.made_at), "pictures"),
        "cost": html_sections.costs(facts, foreign, room),
        "failures": html_sections.failures(facts, foreign, room),
    }
    bodies["log"] = html_sections.history(facts.history, foreign, room, "entries of the log")
    bodies["atoms"] = html_atoms.atoms(facts, partial(changes_of, store), foreign, room)
    return bodies


def _style() -> str:
    return (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
