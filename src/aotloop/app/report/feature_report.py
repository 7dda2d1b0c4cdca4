"""The report of a feature, as one HTML file and as text for a pull request; foreign text enters as in other reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aotloop.app.report.feature_facts import STATES, SYMBOLS, FeatureFacts, PhaseReport, feature_facts
from aotloop.app.report.foreign_text import ForeignText, Room
from aotloop.app.report.html_report import MOST_BYTES, Report, document
from aotloop.app.report.html_sections import LONGEST_WORDS, evidence, folded, numbers
from aotloop.app.report.markdown_report import FIXED, LONGEST_EVIDENCE, Markdown, finished
from aotloop.app.report.markdown_report import MOST_BYTES as MOST_OF_MARKDOWN
from aotloop.app.report.report_facts import known_secrets
from aotloop.phases.project import Project

_FIXED = 400_000
_LOOKS = {"done": "holds", "forced": "fails", "now": "waits"}


def feature_report(project: Project, most_bytes: int = MOST_BYTES) -> Report:
    facts = feature_facts(project)
    foreign, room = ForeignText(known_secrets(Path(facts.folder))), Room(most_bytes - _FIXED)
    parts = [part for part in _parts(facts, foreign, room) if part[2]]
    text = document(foreign, room, facts.loop.feature, _head(facts, foreign), parts, folder=facts.folder)
    return Report(text=text, left_out=room.left_out)


def _head(facts: FeatureFacts, foreign: ForeignText) -> str:
    reason = facts.loop.stop_reason
    reason_html = f'<p class="reason">{foreign.block(reason, LONGEST_WORDS)}</p>' if reason else ""
    need = f'<p class="need">Needs a person: {foreign.line(facts.need)}</p>' if facts.need else ""
    return f"{numbers(facts.numbers, foreign)}{reason_html}{need}"


def _parts(facts: FeatureFacts, foreign: ForeignText, room: Room) -> Iterator[tuple[str, str, str]]:
    phases = "".join(room.take(_phase(phase, foreign), "phases") for phase in facts.phases)
    yield "phases", "Phases and their receipts", f'<ul class="tree">{phases}</ul>'
    tests = f"<p>Run by <code>{foreign.line(facts.test_command)}</code></p>{evidence(facts.tests, foreign)}"
    yield "tests", "Acceptance tests", room.take(tests, "tests") if facts.tests else ""
    found = [("✘", finding) for finding in facts.open_findings] + [
        ("✔", finding) for finding in facts.resolved_findings
    ]
    listed = "".join(room.take(f"<li>{sign} {foreign.line(text)}</li>", "findings") for sign, text in found)
    yield "findings", "Findings of the review", f'<ul class="tree">{listed}</ul>' if listed else ""
    rows = [room.take(_event(event["at"], event["text"], foreign), "entries") for event in reversed(facts.events)]
    yield "log", "Everything that happened", f'<ol class="log">{"".join(reversed(rows))}</ol>' if any(rows) else ""


def _phase(phase: PhaseReport, foreign: ForeignText) -> str:
    look = _LOOKS.get(phase.state, "open")
    receipt = f" {foreign.line(phase.artifact)} at {foreign.line(phase.commit[:10])}" if phase.artifact else ""
    head = (
        f'<span class="{look}">{SYMBOLS[phase.state]}</span> <b>{phase.name}</b>'
        f' <span class="soft">{STATES[phase.state]}{receipt}</span>'
    )
    parts = [
        *(_event(judgement["at"], judgement["text"], foreign) for judgement in phase.judged),
        *(_event(checkpoint.timestamp, checkpoint.summary, foreign) for checkpoint in phase.checkpoints),
        *(_event(error.timestamp, error.message, foreign) for error in phase.errors),
    ]
    body = f'<ol class="log">{"".join(parts)}</ol>' if parts else ""
    return f"<li>{folded(head, body)}</li>"


def _event(at: str, text: str, foreign: ForeignText) -> str:
    first, _, rest = text.partition("\n")
    return f"<li>{folded(f'<time>{foreign.line(at, 40)}</time> {foreign.line(first)}', evidence(rest, foreign))}</li>"


# --- Markdown ----------------------------------------------------------------------------------------------------


def feature_markdown(project: Project, most_bytes: int = MOST_OF_MARKDOWN) -> Report:
    facts = feature_facts(project)
    written = Markdown(ForeignText(known_secrets(Path(facts.folder))), Room(most_bytes - FIXED))
    return finished(written, _in_markdown(facts, written))


def _in_markdown(facts: FeatureFacts, written: Markdown) -> Iterator[str]:
    loop = facts.loop
    yield f"## {written.line(loop.feature)}"
    numbers = " · ".join(f"{name}: {written.line(value)}" for name, value in facts.numbers)
    yield f"{numbers}\n\n{written.line(loop.stop_reason)}" if loop.stop_reason else numbers
    yield written.list("### Phases", (_line(phase, written) for phase in facts.phases), "phases")
    found = [("✘", finding) for finding in facts.open_findings] + [
        ("✔", finding) for finding in facts.resolved_findings
    ]
    yield written.list("### Findings", (f"- {sign} {written.line(text)}" for sign, text in found), "findings")
    refused = [(phase, error) for phase in facts.phases for error in phase.errors]
    yield written.list(
        "### What failed",
        (f"- {phase.name}: {written.line(refusal.message)}" for phase, refusal in refused),
        "failures",
    )
    if facts.tests:
        yield written.room.take(written.folded("Acceptance tests", facts.tests[: 8 * LONGEST_EVIDENCE]), "tests")


def _line(phase: PhaseReport, written: Markdown) -> str:
    receipt = f", {written.line(phase.artifact)} at {written.line(phase.commit[:10])}" if phase.artifact else ""
    return f"- {SYMBOLS[phase.state]} **{phase.name}** ({STATES[phase.state]}{receipt})"
