"""The sections of a report as HTML, each from facts alone; foreign text gets into them only through `ForeignText`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from aotloop.app.diagram.diagram import Picture
from aotloop.app.diagram.fold import fold
from aotloop.app.diagram.svg import svg_of
from aotloop.app.history.costs import Cost, spending
from aotloop.app.history.trail_entries import HistoryEntry
from aotloop.app.overview.checklist_view import BaseItem
from aotloop.app.report.foreign_text import ForeignText, Room
from aotloop.app.report.report_facts import ReportFacts
from aotloop.text.phrases import counted, dollars, lasting

MOST_ENTRIES = 2000
MOST_COSTS = 100
LONGEST_VALUE = 2000
LONGEST_WORDS = 6000
SYMBOLS = {"holds": "✔", "fails": "✘", "waits": "?", "open": "○"}
STATES = {"holds": "holds", "fails": "fails", "waits": "waits for a person", "open": "not tried"}


def section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}"><h2>{title}</h2>\n{body}\n</section>' if body else ""


def asked(facts: ReportFacts, foreign: ForeignText) -> str:
    head = facts.head
    rows = {
        "Goal": head.goal,
        "Intent": head.background_intent,
        "Deliverables": head.deliverables,
        "Done means": head.definition_of_done,
        "Protected": ", ".join(head.protect),
    }
    limits = [f"{name}: {value}" for name, value in head.constraints.items() if isinstance(value, int | float | str)]
    rows["Limits"] = ", ".join(limits)
    parts = (
        f"<dt>{name}</dt><dd>{foreign.block(text, LONGEST_WORDS)}</dd>" for name, text in rows.items() if text.strip()
    )
    return f"<dl>{''.join(parts)}</dl>"


def outcome(facts: ReportFacts, foreign: ForeignText) -> str:
    """The head of the page: what became of the loop, in numbers."""
    head = facts.head
    spent = " · ".join(spending(head.cost_usd, facts.used, head.max_cost_usd))
    landed = sum(attempt.fate == "landed" for attempt in facts.attempts)
    undone = sum(attempt.fate == "undone" for attempt in facts.attempts)
    parts = [
        ("status", head.status),
        ("required atoms resolved", f"{head.resolved} of {head.required}"),
        ("attempts", f"{len(facts.attempts)}, {landed} merged" + (f", {undone} taken back" if undone else "")),
        ("iterations", f"{head.iteration} of {head.max_iterations}"),
        ("cost", spent or "not told"),
        ("time", lasting(head.ran_seconds)),
    ]
    reason = f'<p class="reason">{foreign.block(head.stop_reason, LONGEST_WORDS)}</p>' if head.stop_reason else ""
    is_told = head.stop_reason is not None and (head.need or "").startswith("it stopped")
    words = "." if is_told else f": {foreign.line(head.need or '')}"
    need = f'<p class="need">Needs a person{words}</p>' if head.need else ""
    return f"{numbers(parts, foreign)}{reason}{need}"


def numbers(parts: Sequence[tuple[str, str]], foreign: ForeignText) -> str:
    cells = "".join(f"<div><b>{foreign.line(value)}</b><span>{name}</span></div>" for name, value in parts)
    return f'<div class="numbers">{cells}</div>'


# --- the base case -----------------------------------------------------------------------------------------------


def base_case(facts: ReportFacts, foreign: ForeignText, room: Room) -> str:
    view = facts.base_case
    verdict = {True: "It holds.", False: "It does not hold.", None: "It is not decided."}[view.passed]
    at = f" Tried at {foreign.line(view.at)}" + (f", commit {foreign.line(view.commit)[:12]}." if view.commit else ".")
    old = " The files have changed since." if view.is_outdated else ""
    return f"<p>{verdict}{at if view.at else ''}{old}</p>{_items(view.items, foreign, room)}"


def _items(items: Sequence[BaseItem], foreign: ForeignText, room: Room) -> str:
    parts = (room.take(_item(item, foreign, room), "items of the base case") for item in items)
    return f'<ul class="tree">{"".join(parts)}</ul>'


def _item(item: BaseItem, foreign: ForeignText, room: Room) -> str:
    head = (
        f'<span class="{item.state}">{SYMBOLS[item.state]}</span> {foreign.line(item.name)}'
        f' <span class="soft">{foreign.line(item.kind)}, {STATES[item.state]}</span>'
    )
    if item.children:
        return f"<li>{head}{_items(item.children, foreign, room)}</li>"
    value = f"<pre>{foreign.block(item.value, LONGEST_VALUE)}</pre>" if item.value else ""
    return f"<li>{folded(head, value + evidence(item.evidence, foreign))}</li>"


def evidence(text: str, foreign: ForeignText) -> str:
    return f'<pre class="evidence">{foreign.block(text)}</pre>' if text.strip() else ""


def folded(head: str, body: str) -> str:
    return f"<details><summary>{head}</summary>{body}</details>" if body else head


# --- graph, failures, costs, log ---------------------------------------------------------------------------------


def graph(picture: Picture, foreign: ForeignText, room: Room) -> str:
    """A large graph is folded, as on the web page."""
    if not picture.cards:
        return ""
    cards = tuple(
        msgspec.structs.replace(
            card, label=foreign.shown_line(card.label, 80), description=foreign.shown_line(card.description, 300)
        )
        for card in picture.cards
    )
    groups = tuple(
        msgspec.structs.replace(group, label=foreign.shown_line(group.label, 80)) for group in picture.groups
    )
    shown = msgspec.structs.replace(picture, title=foreign.shown_line(picture.title, 300), cards=cards, groups=groups)
    drawn = room.take(svg_of(fold(shown).picture), "pictures")
    return f'<div class="wide">{drawn}</div>' if drawn else ""


def failures(facts: ReportFacts, foreign: ForeignText, room: Room) -> str:
    return history(facts.failures, foreign, room, "failures") or "<p>Nothing failed, and nothing was taken back.</p>"


def history(entries: Sequence[HistoryEntry], foreign: ForeignText, room: Room, what: str) -> str:
    """The newest entries, in the order in which they happened."""
    room.skip(what, len(entries) - MOST_ENTRIES)
    rows = [room.take(_entry(entry, foreign), what) for entry in reversed(entries[-MOST_ENTRIES:])]
    parts = "".join(reversed(rows))
    return f'<ol class="log">{parts}</ol>' if parts else ""


def _entry(entry: HistoryEntry, foreign: ForeignText) -> str:
    first, _, rest = entry.text.partition("\n")
    at = f'<time>{foreign.line(entry.at, 40)}</time> <span class="kind">{foreign.line(entry.kind, 40)}</span>'
    head, found = f"{at} {foreign.line(first)}", dict[str, str]()
    if entry.kind == "verified":
        for name in ("failing", "waiting", "holding"):
            found |= {f"{item} ({name})": text for item, text in entry.data.get(name, {}).items()}
    body = evidence(rest, foreign) + "".join(_found(found, foreign))
    return f"<li>{folded(head, body)}</li>"


def _found(found: dict[str, str], foreign: ForeignText) -> Iterator[str]:
    for name, text in found.items():
        yield f"<h4>{foreign.line(name)}</h4>{evidence(text, foreign)}"


def costs(facts: ReportFacts, foreign: ForeignText, room: Room) -> str:
    tables = [
        _table("agent", facts.costs.by_agent, foreign, room),
        _table("role", facts.costs.by_role, foreign, room),
        _table("atom", facts.costs.by_atom, foreign, room),
    ]
    unknown = facts.costs.unknown_usd
    note = f"<p>{dollars(unknown)} more are in the state file, but not in the journal.</p>" if unknown else ""
    return "".join(tables) + note


def _table(name: str, sums: dict[str, Cost], foreign: ForeignText, room: Room) -> str:
    known = [entry for entry in sums.items() if entry[0]]
    if not known:
        return ""
    room.skip("rows of costs", len(known) - MOST_COSTS)
    rows = (
        f"<tr><td>{foreign.line(of, 120)}</td><td>{cost.attempts}</td><td>{lasting(cost.seconds)}</td>"
        f"<td>{' · '.join(spending(cost.usd or 0.0, cost.used)) or 'not told'}</td></tr>"
        for of, cost in known[:MOST_COSTS]
    )
    head = f"<tr><th>{name}</th><th>attempts</th><th>time</th><th>spent</th></tr>"
    return room.take(f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>", "tables of costs")


def left_out(room: Room) -> str:
    if not room.left_out:
        return ""
    parts = ", ".join(f"{count:,} {what}" for what, count in room.left_out.items())
    return (
        f"<p>Left out, to keep this file small: {parts}. <code>aot log</code> and <code>aot show</code> have them.</p>"
    )


def attempts_in_words(count: int) -> str:
    return counted(count, "attempt")
