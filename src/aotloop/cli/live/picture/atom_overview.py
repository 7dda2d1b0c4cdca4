"""Keeps the current look of each atom; an update costs only as much as the changes, also in a large loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from aotloop.app.diagram.diagram import Look
from aotloop.cli.live.picture.atom_rows import Row, outline
from aotloop.cli.ui.allowance import bound_of
from aotloop.cli.ui.failures import failures_in_words, failures_of
from aotloop.core.graph.board import Board
from aotloop.core.limits import Limits, limits_of
from aotloop.core.model import Atom, Constraints, Loop, OrGroup, Used
from aotloop.execution.observer import Watched

MOST_CHANGES = 200
"""With more changes than this, a new overview is made, which is equally fast."""


class AtomOverview:
    def __init__(self, loop: Loop) -> None:
        self.board = Board(loop.snapshot())
        self.rows: list[Row] = outline(self.board)
        self.row_of: dict[str, int] = {row.name: number for number, row in enumerate(self.rows) if not row.is_group}
        self.end_generation(loop.control.iteration, loop.control.stall_count)
        self._look()

    @property
    def loop(self) -> Loop:
        return self.board.loop

    def follow(self, loop: Watched) -> bool:
        """False: the work graph is a different one. Nothing was changed here, and a new overview is needed."""
        if not isinstance(loop, Loop):
            return False
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
        self.end_generation(loop.control.iteration, loop.control.stall_count)
        if atoms or groups:
            self._look()
        return True

    def _changed_atoms(self, loop: Loop) -> list[Atom] | None:
        ours = self.loop
        if (
            not len(self.board.atoms) == len(ours.atoms) == len(loop.atoms)  # an id may occur twice
            or ours.decompositions != loop.decompositions
            or ours.objective.constraints != loop.objective.constraints
        ):
            return None
        pairs = [(old, other) for old, other in zip(ours.atoms, loop.atoms, strict=True) if old is not other]
        changed = [(old, other) for old, other in pairs if old != other]
        if any(old.id != other.id or old.depends_on != other.depends_on for old, other in changed):
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

    def end_generation(self, iteration: int, stall_count: int) -> None:
        """Events may report it before the loop does."""
        self.iteration, self.stall_count = iteration, stall_count

    # --- the loop as a whole -------------------------------------------------------------------------------------

    @property
    def goal(self) -> str:
        return self.loop.objective.goal

    @property
    def status(self) -> str:
        return self.loop.control.status

    @property
    def stop_reason(self) -> str | None:
        control = self.loop.control
        return control.stop_reason if control.status == "stopped" else None

    @property
    def cost_usd(self) -> float:
        return self.loop.control.cost_usd

    @property
    def used(self) -> Used:
        return self.loop.control.used

    def counted_as(self, width: int) -> str:
        return " required atoms resolved" if width >= 72 else " resolved" if width >= 48 else ""

    def limits(self, overriding: Mapping[str, int | float | str]) -> Limits:
        """The limits in force. `overriding`: limits of this run only."""
        agreed = self.loop.objective.constraints
        try:
            return limits_of(msgspec.convert({**msgspec.structs.asdict(agreed), **overriding}, Constraints))
        except msgspec.ValidationError:  # any program may write the file they come from
            return limits_of(agreed)

    def counters(self, overriding: Mapping[str, int | float | str]) -> tuple[str, ...]:
        limits = self.limits(overriding)
        return (
            f"iteration {self.iteration:,} of {limits.max_iterations:,}",
            f"stalls {self.stall_count:,} of {limits.max_stall_count:,}",
        )

    def most_usd(self, overriding: Mapping[str, int | float | str]) -> float | None:
        return self.limits(overriding).max_cost_usd

    def runtime(self, overriding: Mapping[str, int | float | str]) -> tuple[float, str] | None:
        most = self.limits(overriding).max_runtime
        return (self.loop.control.ran_seconds, str(most)) if most is not None else None

    def bound(self, overriding: Mapping[str, int | float | str]) -> int | None:
        return bound_of(self.loop, self.limits(overriding))

    # --- one atom ------------------------------------------------------------------------------------------------

    def description(self, name: str) -> str | None:
        atom = self.board.atoms.get(name)
        return atom.description if atom is not None else None

    def heading(self, name: str) -> str:
        group = self.loop.or_groups[name]
        count = len(group.choices)
        return f": all {count} tried at once" if group.speculative else f": one of {count}"

    def pointer(self, name: str) -> bool | None:
        group = self.board.group(name)
        return group.selected == name if group is not None else None

    def failures(self, name: str) -> int:
        atom = self.board.atoms.get(name)
        return failures_of(atom) if atom is not None else 0

    def failures_in_words(self, name: str) -> str:
        atom = self.board.atoms.get(name)
        return failures_in_words(self.board, atom) if atom is not None else ""

    def waits_for(self, name: str) -> list[str]:
        return self.board.waits_for(name)

    def parts(self, name: str) -> tuple[int, int]:
        parts = self.board.children_of[name]
        return sum(map(self.board.satisfied, parts)), len(parts)

    # --- looks ---------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        board = self.board
        self.ready = board.ready()
        """Best first."""
        ready = set(self.ready)
        # On a cycle nothing counts as required, although no choice excluded it.
        required = board.atoms.keys() if board.has_cycle else board.required
        self.looks: list[Look | None] = [
            None if row.is_group else "ready" if row.name in ready else self._look_of(row.name, row.name in required)
            for row in self.rows
        ]
        """The look of each row; None: a heading."""
        self.required = len(required)
        self.resolved = sum(board.atoms[atom_id].status == "resolved" for atom_id in required)
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
