"""One atom as lines of a picture: its name, what it is about, and what is going on with it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from aotloop.cli.drawing.looks import STYLES
from aotloop.cli.failures import failures_in_words, failures_of
from aotloop.cli.live.lines import Piece, cut, fitted, identified, shown, width_of
from aotloop.cli.live.outline import Row
from aotloop.cli.live.picture import Picture, Running
from aotloop.cli.live.times import lasting
from aotloop.core.model import Atom

INDENT = "  "
ROOMY = 72
"""Columns from which on things are said in full."""


class AtomLines:
    """For the rows that are shown; their descriptions begin in one column."""

    def __init__(self, picture: Picture, numbers: Sequence[int], width: int, now: float) -> None:
        self._picture = picture
        self._standing = picture.standing
        self._width = width
        self._now = now
        self._attempts = {one.atom: one for one in picture.running.values()}
        self._heads = {number: self._head(number) for number in numbers}
        atoms = [width_of(head) for number, head in self._heads.items() if not self._standing.rows[number].is_group]
        # Unless a name is so long that all would have to give way to it.
        self._column = min(max(atoms, default=0), width * 2 // 5) + 2

    def of(self, number: int, *, with_output: bool) -> list[list[Piece]]:
        row = self._standing.rows[number]
        if row.is_group:
            return [fitted(self._heads[number], self._width)]
        attempt = self._attempts.get(row.name)
        lines = [self._atom(number, row.name, attempt)]
        if with_output and attempt is not None and attempt.line:
            lines.append(self._output(attempt))
        return lines

    # --- its beginning -------------------------------------------------------------------------------------------

    def _head(self, number: int) -> list[Piece]:
        row = self._standing.rows[number]
        indent = INDENT * min(row.depth, max(self._width // 16, 1))
        name = cut(identified(row.name), self._width // 2)
        if row.is_group:
            group = self._standing.loop.or_groups[row.name]
            count = len(group.choices)
            manner = f": all {count} tried at once" if group.speculative else f": one of {count}"
            return [(f"{indent}◆ ", "dim"), (name, "bold"), (manner, "dim")]
        look = self._standing.looks[number] or "waiting"
        style = STYLES["in_progress" if row.name in self._attempts else look]
        return [
            (indent, ""),
            (self._pointer(row), "bold"),
            (f"{style.symbol} ", style.ansi),
            (name, "dim" if look == "unselected" else "bold"),
        ]

    def _pointer(self, row: Row) -> str:
        group = self._standing.board.group(row.name)
        if group is None:
            return ""
        return "▸ " if group.selected == row.name else INDENT

    # --- the rest of it ------------------------------------------------------------------------------------------

    def _atom(self, number: int, name: str, attempt: Running | None) -> list[Piece]:
        head = self._heads[number]
        gap = max(self._column - width_of(head), 2)
        room = self._width - width_of(head) - gap
        state, style = self._state(number, name, attempt)
        state = cut(state, max(room - 4, room // 2))
        left = room - cell_len(state) - 2 if state else room
        atom = self._standing.board.atoms.get(name)
        described = cut(shown(atom.description) if atom is not None else "(not an atom yet)", max(left, 0))
        filling = " " * max(left - cell_len(described) + 2, 0) if state else ""
        faint = "dim" if self._standing.looks[number] in ("unselected", "resolved") else ""
        return fitted([*head, (" " * gap, ""), (described, faint), (filling, ""), (state, style)], self._width)

    def _state(self, number: int, name: str, attempt: Running | None) -> Piece:
        """What is said at the end of its line, and in which style."""
        if attempt is not None:
            return self._at_work(name, attempt), "blue"
        if name in self._picture.blocked:
            return "waits to be merged", "yellow"
        look = self._standing.looks[number]
        if look == "in_progress" and name in self._picture.merging:
            return "being merged", "blue"
        if name in self._picture.verifying:
            return "being checked", "blue"
        atom = self._standing.board.atoms.get(name)
        if atom is not None and (failed := self._failed(atom)) and look != "resolved":
            return failed, "red" if look == "failed" else "dim"
        return self._parts(name) if look == "decomposed" else self._waits(name) if look == "waiting" else "", "dim"

    def _failed(self, atom: Atom) -> str:
        if self._width >= ROOMY:
            return failures_in_words(self._standing.board, atom)
        return f"{failures_of(atom)} failed" if failures_of(atom) else ""

    def _at_work(self, name: str, attempt: Running) -> str:
        since = lasting(self._now - attempt.since) if attempt.since is not None else ""
        atom = self._standing.board.atoms.get(name)
        nth = f"try {failures_of(atom) + 1 if atom is not None else 1:,}"
        if self._width < ROOMY:
            return " ".join(filter(None, (since, "probe" if attempt.role == "probe" else nth)))
        which = "looks at it" if attempt.role == "probe" else nth
        return " · ".join(filter(None, (cut(shown(attempt.agent), 16), which, since)))

    def _waits(self, name: str) -> str:
        waiting = self._standing.board.waits_for(name) if self._width >= ROOMY else []
        more = f" +{len(waiting) - 2}" if len(waiting) > 2 else ""
        return f"← {', '.join(cut(identified(one), 16) for one in waiting[:2])}{more}" if waiting else ""

    def _parts(self, name: str) -> str:
        parts = self._standing.board.children_of[name]
        done = sum(map(self._standing.board.satisfied, parts))
        return f"{done} of {len(parts)} parts" if self._width >= ROOMY else f"{done}/{len(parts)}"

    def _output(self, attempt: Running) -> list[Piece]:
        indent = " " * min(self._column, self._width // 4)
        return fitted([(indent, ""), (f"│ {shown(attempt.line)}", "dim")], self._width)
