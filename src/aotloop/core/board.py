"""A graph that keeps up with its loop: whoever changes atoms, groups or decompositions does it here.

Nothing is computed before somebody asks. From then on a change costs what follows from it (see `standing`), however
many atoms there are. The sets and dicts handed out are the live ones: copy what has to outlast a change.

In a loop that is not valid (a cycle, an id given twice, a choice of two groups) counts would not come out even; there
every question is answered anew after a change, as `Graph` does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aotloop.core.freshness import outdate_verdict
from aotloop.core.graph import Graph, highest_number
from aotloop.core.model import Atom, Decomposition, Loop, OrGroup
from aotloop.core.standing import Standing

COMPUTED = ("required", "remaining_path")
OF_STRUCTURE = ("consumers", "consumers_first", "_placed", "group_order", "highest_number")


class Board(Graph):
    def __init__(self, loop: Loop, *, is_for_once: bool = False) -> None:
        """`is_for_once`: whoever asks little and then goes is answered anew each time; keeping up would cost more."""
        super().__init__(loop)
        self._standing: Standing | None = None
        self._is_for_once = is_for_once
        self._is_irregular = is_for_once

    # --- changes -------------------------------------------------------------------------------------------------

    def put(self, atom: Atom) -> None:
        """Replaces the atom of this id by another version of it; its dependencies are the same."""
        standing = self._standing_if_asked("required")
        before = self.atoms[atom.id]
        outdate_verdict(self.loop, before, atom)
        self.loop.atoms[self.position[atom.id]] = atom
        self.atoms[atom.id] = atom
        if before.depends_on != atom.depends_on:
            self.rebuild()
        elif standing is None:
            self._forget(*COMPUTED)
        elif not standing.atom_changed(before, atom):
            self.rebuild()

    def put_group(self, name: str, group: OrGroup) -> None:
        """Replaces a group by another version of it, with the same choices."""
        standing = self._standing_if_asked("required")
        before = self.or_groups.get(name)
        if before is None or before.choices != group.choices or group.selected not in group.choices:
            self.grow((), {name: group})
            return
        self.or_groups[name] = group
        if standing is None:
            self._forget(*COMPUTED)
        elif not standing.group_changed(name, before):
            self.rebuild()

    def patience_changed(self) -> None:
        """With every success: what is usual has become another."""
        if self._standing is not None and not self._standing.patience_changed():
            self.rebuild()

    def grow(
        self,
        atoms: Iterable[Atom],
        groups: dict[str, OrGroup] | None = None,
        decompositions: Iterable[Decomposition] = (),
    ) -> None:
        """Adds atoms, adds or widens groups, adds decompositions. That no cycle comes of it was made sure before."""
        standing = self._standing_if_asked("consumers")
        fresh, groups, splits = list(atoms), groups or {}, list(decompositions)
        is_regular = not self._is_irregular and self._only_adds(fresh, groups)
        groups_before = {name: self.or_groups.get(name) for name in groups}
        parents = {one.parent for one in splits if one.parent in self.atoms}
        needs_before = {one: standing.units_needed(one) for one in parents} if standing is not None else {}
        self._add(fresh, groups, splits)
        if not is_regular:
            self.rebuild()
        elif standing is None:
            self._forget(*COMPUTED, *OF_STRUCTURE[:-1])
        else:
            self._forget("consumers_first", "_placed", "group_order")
            if not standing.grown(fresh, groups_before, needs_before):
                self.rebuild()

    def rebuild(self) -> None:
        """After any other change of the loop, such as atoms that were taken out."""
        self._forget(*COMPUTED, *OF_STRUCTURE)
        self.__init__(self.loop, is_for_once=self._is_for_once)  # type: ignore[misc]

    def _add(self, atoms: list[Atom], groups: dict[str, OrGroup], splits: list[Decomposition]) -> None:
        for atom in atoms:
            self.position[atom.id] = len(self.loop.atoms)
            self.loop.atoms.append(atom)
            self.atoms[atom.id] = atom
        self.or_groups.update(groups)
        self.group_of.update({choice: name for name, group in groups.items() for choice in group.choices})
        if "highest_number" in self.__dict__:
            added = (*(atom.id for atom in atoms), *(choice for group in groups.values() for choice in group.choices))
            self.__dict__["highest_number"] = max(self.highest_number, highest_number(added))
        self.loop.decompositions.extend(splits)
        for split in splits:
            self.add_parts(split)

    def _only_adds(self, atoms: list[Atom], groups: dict[str, OrGroup]) -> bool:
        """Whether every unit stays what it was: no atom or choice is named twice, nothing becomes a choice later on."""
        ids = [atom.id for atom in atoms]
        if len(set(ids)) < len(ids) or any(one in self.atoms for one in ids):
            return False
        choices: list[str] = []
        for name, group in groups.items():
            before = self.or_groups.get(name)
            known = set(before.choices) if before is not None else set[str]()
            if not known.issubset(group.choices) or group.selected not in group.choices:
                return False
            new = set(group.choices) - known
            if any(one in self.group_of or one in self.atoms or self._is_needed(one) for one in new):
                return False
            choices += group.choices
        return len(set(choices)) == len(choices)

    def _is_needed(self, atom_id: str) -> bool:
        return self._standing is not None and atom_id in self.consumers

    # --- questions -----------------------------------------------------------------------------------------------

    def ready(self) -> list[str]:
        standing = self._stand()
        return standing.ranking.in_order() if standing is not None else super().ready()

    def best_ready(self) -> Iterator[str]:
        """As `ready`, but one after the other: who needs only the first few does not pay for all.

        Each is ready at the time it is handed out, whatever was changed since the one before.
        """
        if self._stand() is None:
            yield from (atom_id for atom_id in self.ready() if self.why_not_ready(atom_id) is None)
            return
        reader, given = object(), set[str]()
        while (following := self._best_ready_but(given, reader)) is not None:
            given.add(following)
            yield following

    def _best_ready_but(self, given: set[str], reader: object) -> str | None:
        standing = self._stand()  # another one if all was rebuilt meanwhile
        if standing is not None:
            return standing.ranking.best_but(given, reader)
        return next((atom_id for atom_id in self.ready() if atom_id not in given), None)

    def unresolved_count(self) -> int:
        """How many atoms are required and not resolved; repairs are not counted."""
        standing = self._stand()
        if standing is not None:
            return len(standing.unresolved)
        return sum(self.atoms[one].repairs is None for one in self.unresolved())

    def take_news(self) -> set[str] | None:
        """Atoms that are not as they were when this was last asked, or not wanted as they were; None: any may be so."""
        if self._standing is None:
            return None
        news, self._standing.news = self._standing.news, set()
        return news

    # --- what is computed ----------------------------------------------------------------------------------------

    def _stand(self) -> Standing | None:
        if self._standing is None and not self._is_irregular:
            self._is_irregular = not self._is_regular()
            self._standing = None if self._is_irregular else Standing(self)
        return self._standing

    def _standing_if_asked(self, question: str) -> Standing | None:
        """Before a change: once somebody has asked, the answer is kept and not computed again."""
        return self._stand() if question in vars(self) else None

    def _is_regular(self) -> bool:
        groups = self.or_groups.values()
        return (
            len(self.atoms) == len(self.loop.atoms)
            and len(self.group_of) == sum(len(group.choices) for group in groups)
            and all(group.selected in group.choices for group in groups)
            and not self.has_cycle
        )

    def _forget(self, *names: str) -> None:
        for name in names:
            vars(self).pop(name, None)
