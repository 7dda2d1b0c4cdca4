"""The atoms of a report: its task, the agents that tried it, the result of every check, and the changes."""

from __future__ import annotations

from collections.abc import Callable

from aotloop.app.diagram.styles import STYLES
from aotloop.app.history.attempts import Attempt
from aotloop.app.history.costs import spending
from aotloop.app.report.foreign_text import ForeignText, Room
from aotloop.app.report.html_sections import attempts_in_words, evidence, folded
from aotloop.app.report.report_facts import AtomReport, ReportFacts
from aotloop.app.report.timeline_picture import COLOURS
from aotloop.app.show import fate_in_words
from aotloop.execution.journals.records import CheckedPart
from aotloop.git.commits.commit_diff import FileDiff
from aotloop.text.phrases import lasting

MOST_DIFFS = 300
"""Each needs git. Attempts that landed come first, the newest before the others."""
LONGEST_DIFF = 60_000

Changes = Callable[[Attempt], tuple[tuple[FileDiff, ...], str]]
"""What an attempt changed, and why there is nothing."""


def atoms(facts: ReportFacts, changes: Changes, foreign: ForeignText, room: Room) -> str:
    """Results and evidence have a place before any diff has."""
    rows = {attempt.name: room.take(_attempt(attempt, foreign), "attempts") for attempt in facts.attempts}
    heads = [
        room.take(f"<summary>{_head(atom, foreign)}</summary>{_about(atom, foreign)}", "atoms") for atom in facts.atoms
    ]
    diffs = _diffs(facts, changes, foreign, room)
    return "".join(
        f'<details class="atom">{head}'
        + "".join(rows[attempt.name] + diffs.get(attempt.name, "") for attempt in atom.attempts)
        + "</details>"
        for atom, head in zip(facts.atoms, heads, strict=True)
        if head
    )


def _head(atom: AtomReport, foreign: ForeignText) -> str:
    agents = ", ".join(dict.fromkeys(attempt.agent or "a command" for attempt in atom.attempts))
    by = f" · {foreign.line(agents, 80)}" if agents else ""
    tried = f" · {attempts_in_words(len(atom.attempts))}" if atom.attempts else ""
    style = STYLES[atom.look]
    return (
        f'<span class="look {atom.look}">{style.symbol} {style.words}</span> <b>{foreign.line(atom.id, 80)}</b>'
        f' {foreign.line(atom.description, 200)}<span class="soft">{by}{tried}</span>'
    )


def _about(atom: AtomReport, foreign: ForeignText) -> str:
    rows = {
        "Asked": atom.description,
        "Command": atom.command or "",
        "Result": atom.summary,
        "Files": ", ".join(atom.artifacts),
        "After": ", ".join(atom.depends_on),
        "Alternative of": f"{atom.group}{' (selected)' if atom.is_selected else ''}" if atom.group else "",
    }
    rows_html = (f"<dt>{name}</dt><dd>{foreign.block(text, 4000)}</dd>" for name, text in rows.items() if text.strip())
    return f"<dl>{''.join(rows_html)}</dl>"


def _attempt(attempt: Attempt, foreign: ForeignText) -> str:
    spent = " · ".join([lasting(attempt.seconds), *spending(attempt.cost_usd or 0.0, attempt.used)])
    fate = fate_in_words(attempt)
    first, _, rest = fate.partition("\n")
    summary = attempt.summary if attempt.summary not in fate else ""
    return (
        f'<div class="attempt {COLOURS[attempt.fate]}"><h4>{foreign.line(attempt.name, 100)}</h4>'
        f'<p class="soft">{foreign.line(attempt.role, 20)} · {foreign.line(attempt.agent or "a command", 80)}'
        f" · {foreign.line(attempt.began, 40)} · {spent}</p>"
        f"<p>{foreign.line(first)}</p>{evidence(rest, foreign)}{evidence(summary, foreign)}"
        + "".join(_part(part, foreign) for part in attempt.checks)
        + "</div>"
    )


def _part(part: CheckedPart, foreign: ForeignText) -> str:
    state, symbol = {True: ("holds", "✔"), False: ("fails", "✘"), None: ("waits", "?")}[part.passed]
    head = f'<span class="{state}">{symbol}</span> {foreign.line(part.name)}'
    return f'<div class="check">{folded(head, evidence(part.evidence, foreign))}</div>'


# --- what was changed --------------------------------------------------------------------------------------------


def _diffs(facts: ReportFacts, changes: Changes, foreign: ForeignText, room: Room) -> dict[str, str]:
    ended = [attempt for attempt in facts.attempts if attempt.fate not in ("running", "waited", "split", "probed")]
    order = sorted(ended, key=lambda tried: (tried.fate == "landed", tried.began), reverse=True)
    room.skip("diffs", len(order) - MOST_DIFFS)
    found = dict[str, str]()
    for attempt in order[:MOST_DIFFS]:
        if room.is_full:
            room.skip("diffs")
            continue
        files, why_none = changes(attempt)
        files_html = "".join(_file(file, foreign) for file in files)
        found[attempt.name] = room.take(files_html or f'<p class="soft">{foreign.line(why_none)}</p>', "diffs")
    return found


def _file(file: FileDiff, foreign: ForeignText) -> str:
    head = f'{foreign.line(file.path)} <span class="soft">{file.change}, +{file.added} -{file.removed}</span>'
    patch = "".join(_line(line) for line in foreign.block(file.patch, LONGEST_DIFF).split("\n"))
    is_cut = file.is_cut or len(file.patch) > LONGEST_DIFF
    return folded(head, f'<pre class="diff">{patch}</pre>{"<p>The rest is left out.</p>" if is_cut else ""}')


def _line(line: str) -> str:
    kind = {"+": "added", "-": "removed", "@": "place"}.get(line[:1])
    return f'<span class="{kind}">{line}\n</span>' if kind is not None else f"{line}\n"
