"""The report as text for a terminal and as Markdown for the docs: a table for each group, a line for each contender.

In brackets: how many times ours it takes. More than one: we are ahead; less than one: the other is.
"""

from __future__ import annotations

from bench.peers.contenders import CONTENDERS
from bench.peers.rows import Report, Row, ratio

BEGIN, END = "<!-- made by `make bench-peers ARGS=--write` -->", "<!-- end -->"
NOTHING = "-"


def text(report: Report) -> str:
    lines = [described(report)]
    for group in report.groups():
        table = _table(report.of_group(group))
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines += ["", _title(group)]
        lines += ["  ".join(_padded(cell, place, widths) for place, cell in enumerate(line)).rstrip() for line in table]
        lines += _notes(report.of_group(group))
    return "\n".join(lines) + "\n"


def markdown(report: Report) -> str:
    parts = [described(report) + "\n"]
    for group in report.groups():
        head, *body = _table(report.of_group(group))
        rule = ["---", *["---:"] * (len(head) - 1)]
        parts.append(f"\n### {_title(group)}\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *body)))
        notes = _notes(report.of_group(group))
        parts += ["\n", *[f"- {note}\n" for note in notes]] if notes else []
    return "".join(parts)


def between_markers(page: str, fresh: str) -> str:
    """The page with what stands between its markers replaced."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{fresh}{END}{after}"


def described(report: Report) -> str:
    machine = report.machine
    kind = f"Python {machine.python}, {machine.system}, {machine.cores} cores, {machine.filesystem}"
    return f"{kind}; load {machine.load:.1f} before."


def _title(group: str) -> str:
    return group[0].upper() + group[1:]


def _table(rows: list[Row]) -> list[list[str]]:
    works = list(dict.fromkeys(row.work for row in rows))
    names = list(dict.fromkeys(row.contender for row in rows))
    cells = {(row.contender, row.work): _cell(row, rows) for row in rows}
    versions = {row.contender: row.version for row in rows if row.version}
    keeps = {one.name: one.keeps for one in CONTENDERS} if rows[0].group.endswith("milliseconds each") else {}
    head = ["", *works, *(["what survives"] if keeps else [])]
    body = [
        [
            " ".join(filter(None, (name, versions.get(name)))),
            *[cells.get((name, work), NOTHING) for work in works],
            *([keeps.get(name, "")] if keeps else []),
        ]
        for name in names
    ]
    return [head, *body]


def _cell(row: Row, rows: list[Row]) -> str:
    if row.value is None:
        return "not measured"
    shown = _number(row.value) if row.unit == "ms" else f"{row.value:,.0f}"
    times = ratio(row, rows)
    return shown if times is None or row.unit == "steps" or times == 1 else f"{shown} ({_number(times)}x)"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _notes(rows: list[Row]) -> list[str]:
    return [f"{row.contender}, {row.work}: {row.note}" for row in rows if row.note]


def _padded(cell: str, place: int, widths: list[int]) -> str:
    return cell.ljust(widths[place]) if place == 0 or len(cell) > 20 else cell.rjust(widths[place])
