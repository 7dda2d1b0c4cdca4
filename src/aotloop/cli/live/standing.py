"""How each atom of a loop looks now. Follows the loop at the cost of what changed, however many atoms there are."""

from __future__ import annotations

from collections import Counter

from aotloop.cli.drawing.picture import Look
from aotloop.cli.live.outline import Row, outline
from aotloop.core.board import Board
from aotloop.core.model import Atom, Loop, OrGroup

MOST_CHANGES = 200
"""Of more at once, starting anew is no slower."""


class Standing:
    def __init__(self, loop: Loop) -> None:
        self.board = Board(loop.snapshot())
        self.rows: list[Row] = outline(self.board)
        self.row_of: dict[str, int] = {row.name: number for number, row in enumerate(self.rows) if not row.is_group}
        self._look()

    @property
    def loop(self) -> Loop:
        return self.board.loop

    def follow(self, loop: Loop) -> bool:
        """False if this is another work graph: then nothing was changed here, and it takes a new standing."""
        atoms = self._changed_atoms(loop)
        groups = self._changed_groups(loop)
        if atoms is None or groups is None or len(atoms) + len(groups) > MOST_CHANGES:
            return False
        for atom in atoms:
            self.board.put(atom)
        for name, group in groups.items():
            self.board.put_group(name, group)
        ours = self.loop
        ours.objective, ours.control, ours.trail = loop.objective, loop.control, loop.trail
        if atoms or groups:
            self._look()
        return True

    def _changed_atoms(self, loop: Loop) -> list[Atom] | None:
        ours = self.loop
        if (
            not len(self.board.atoms) == len(ours.atoms) == len(loop.atoms)  # an id may be given twice
            or ours.decompositions != loop.decompositions
            or ours.objective.constraints != loop.objective.constraints
        ):
            return None
        pairs = [(one, other) for one, other in zip(ours.atoms, loop.atoms, strict=True) if one is not other]
        changed = [(one, other) for one, other in pairs if one != other]
        if any(one.id != other.id or one.depends_on != other.depends_on for one, other in changed):
            return None
        return [other for _, other in changed]

    def _changed_groups(self, loop: Loop) -> dict[str, OrGroup] | None:
        ours = self.loop.or_groups
        if ours.keys() != loop.or_groups.keys():
            return None
        changed = {name: group for name, group in loop.or_groups.items() if ours[name] != group}
        if any(ours[name].choices != group.choices for name, group in changed.items()):
            return None
        return changed

    # --- looks ---------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        board = self.board
        self.ready = board.ready()
        """Best first."""
        ready = set(self.ready)
        # Nothing on a cycle counts as required, though nobody decided against it.
        required = board.atoms.keys() if board.has_cycle else board.required
        self.looks: list[Look | None] = [
            None if row.is_group else "ready" if row.name in ready else self._look_of(row.name, row.name in required)
            for row in self.rows
        ]
        """Of each row; None: a heading."""
        self.required = len(required)
        self.resolved = sum(board.atoms[one].status == "resolved" for one in required)
        self.counts: Counter[Look | None] = Counter(self.looks)

    def _look_of(self, atom_id: str, is_required: bool) -> Look:
        group = self.board.group(atom_id)
        if group is not None and atom_id in group.failed:
            return "failed"
        atom = self.board.atoms.get(atom_id)
        if atom is not None and atom.status != "pending":
            return atom.status
        if (group is not None and group.selected != atom_id) or not is_required:
            return "unselected"
        if atom_id in self.board.children_of:
            return "decomposed"
        if atom is not None and atom.attempts and self.board.is_exhausted(atom_id):
            return "failed"
        return "waiting"
