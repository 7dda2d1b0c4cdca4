"""One atom as lines of a picture: its name, its description, and its present state."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from aotloop.app.diagram.styles import STYLES
from aotloop.cli.live.picture.atom_rows import Row
from aotloop.cli.live.picture.styled_lines import Piece, cut, fitted, identified, shown, width_of
from aotloop.cli.live.run_view import Picture, Running
from aotloop.text.phrases import lasting

INDENT = "  "
ROOMY = 72
"""From this number of columns on, texts are complete."""


class AtomLines:
    """Lines for the visible rows; their descriptions begin in the same column."""

    def __init__(self, picture: Picture, numbers: Sequence[int], width: int, now: float) -> None:
        self._picture = picture
        self._overview = picture.overview
        self._width = width
        self._now = now
        self._attempts = {attempt.atom: attempt for attempt in picture.running.values()}
        self._heads = {number: self._head(number) for number in numbers}
        atoms = [width_of(head) for number, head in self._heads.items() if not self._overview.rows[number].is_group]
        # Unless a name is so long that it would take too much room.
        self._column = min(max(atoms, default=0), width * 2 // 5) + 2

    def of(self, number: int, *, with_output: bool) -> list[list[Piece]]:
        row = self._overview.rows[number]
        if row.is_group:
            return [fitted(self._heads[number], self._width)]
        attempt = self._attempts.get(row.name)
        lines = [self._atom(number, row.name, attempt)]
        if with_output and attempt is not None and attempt.line:
            lines.append(self._output(attempt))
        return lines

    # --- its beginning -------------------------------------------------------------------------------------------

    def _head(self, number: int) -> list[Piece]:
        row = self._overview.rows[number]
        indent = INDENT * min(row.depth, max(self._width // 16, 1))
        name = cut(identified(row.name), self._width // 2)
        if row.is_group:
            return [(f"{indent}◆ ", "dim"), (name, "bold"), (self._overview.heading(row.name), "dim")]
        look = self._overview.looks[number] or "waiting"
        style = STYLES["in_progress" if row.name in self._attempts else look]
        return [
            (indent, ""),
            (self._pointer(row), "bold"),
            (f"{style.symbol} ", style.ansi),
            (name, _style_of(look, is_selected=row.name == self._picture.selected)),
        ]

    def _pointer(self, row: Row) -> str:
        is_selected = self._overview.pointer(row.name)
        return "" if is_selected is None else "▸ " if is_selected else INDENT

    # --- the rest of it ------------------------------------------------------------------------------------------

    def _atom(self, number: int, name: str, attempt: Running | None) -> list[Piece]:
        head = self._heads[number]
        gap = max(self._column - width_of(head), 2)
        room = self._width - width_of(head) - gap
        state, style = self._state(number, name, attempt)
        state = cut(state, max(room - 4, room // 2))
        left = room - cell_len(state) - 2 if state else room
        description = self._overview.description(name)
        described = cut(shown(description) if description is not None else "(not an atom yet)", max(left, 0))
        filling = " " * max(left - cell_len(described) + 2, 0) if state else ""
        faint = "dim" if self._overview.looks[number] in ("unselected", "resolved") else ""
        return fitted([*head, (" " * gap, ""), (described, faint), (filling, ""), (state, style)], self._width)

    def _state(self, number: int, name: str, attempt: Running | None) -> Piece:
        """The text at the end of the line, and its style."""
        if attempt is not None:
            return self._at_work(name, attempt), "blue"
        if name in self._picture.blocked:
            return "waits to be merged", "yellow"
        look = self._overview.looks[number]
        if look == "in_progress" and name in self._picture.merging:
            return "being merged", "blue"
        if name in self._picture.verifying:
            return "being checked", "blue"
        if (failed := self._failed(name)) and look != "resolved":
            return failed, "red" if look == "failed" else "dim"
        return self._parts(name) if look == "decomposed" else self._waits(name) if look == "waiting" else "", "dim"

    def _failed(self, name: str) -> str:
        if self._width >= ROOMY:
            return self._overview.failures_in_words(name)
        failures = self._overview.failures(name)
        return f"{failures} failed" if failures else ""

    def _at_work(self, name: str, attempt: Running) -> str:
        since = lasting(self._now - attempt.since) if attempt.since is not None else ""
        nth = identified(attempt.name) if attempt.name else f"try {self._overview.failures(name) + 1:,}"
        if self._width < ROOMY:
            nth = f"#{nth.rpartition('#')[2]}" if attempt.name else nth
            return " ".join(filter(None, (since, "probe" if attempt.role == "probe" else nth)))
        which = "is probing" if attempt.role == "probe" else nth
        return " · ".join(filter(None, (cut(shown(attempt.agent), 16), which, since)))

    def _waits(self, name: str) -> str:
        waiting = self._overview.waits_for(name) if self._width >= ROOMY else ()
        more = f" +{len(waiting) - 2}" if len(waiting) > 2 else ""
        return f"← {', '.join(cut(identified(atom_id), 16) for atom_id in waiting[:2])}{more}" if waiting else ""

    def _parts(self, name: str) -> str:
        done, parts = self._overview.parts(name)
        return f"{done} of {parts} parts" if self._width >= ROOMY else f"{done}/{parts}"

    def _output(self, attempt: Running) -> list[Piece]:
        indent = " " * min(self._column, self._width // 4)
        return fitted([(indent, ""), (f"│ {shown(attempt.line)}", "dim")], self._width)


def _style_of(look: str, *, is_selected: bool) -> str:
    style = "dim" if look == "unselected" else "bold"
    return f"{style} reverse" if is_selected else style
