"""A work graph that follows the changes of its loop. Atoms, groups and decompositions are changed only here.

An answer is computed at the first question. After that, a change costs only its consequences (see `readiness`), however
many atoms there are. The returned sets and dicts are live: a caller that needs them after a change makes a copy.

In an invalid loop (a cycle, a duplicate id, a choice of two groups) the counts would be wrong. There, every question is
computed again after a change, as `Graph` does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aotloop.core.graph.readiness import Standing
from aotloop.core.graph.work_graph import Graph, highest_number
from aotloop.core.model import Atom, Decomposition, Loop, OrGroup
from aotloop.core.objective import outdate_verdict

COMPUTED = ("required", "remaining_path")
OF_STRUCTURE = ("consumers", "consumers_first", "_placed", "group_order", "highest_number")


class Board(Graph):
    def __init__(self, loop: Loop, *, is_for_once: bool = False) -> None:
        """`is_for_once`: for a caller with few questions. Each answer is computed again; keeping up would cost more."""
        super().__init__(loop)
        self._standing: Standing | None = None
        self._is_for_once = is_for_once
        self._is_irregular = is_for_once

    # --- changes -------------------------------------------------------------------------------------------------

    def put(self, atom: Atom) -> None:
        """Replaces an atom by another version with the same id and the same dependencies."""
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
        """Replaces a group by another version with the same choices."""
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
        """Called after every success, because the usual number of attempts has changed."""
        if self._standing is not None and not self._standing.patience_changed():
            self.rebuild()

    def grow(
        self,
        atoms: Iterable[Atom],
        groups: dict[str, OrGroup] | None = None,
        decompositions: Iterable[Decomposition] = (),
    ) -> None:
        """Adds atoms, adds or widens groups, adds decompositions. The caller has checked that no cycle results."""
        standing = self._standing_if_asked("consumers")
        fresh, groups, splits = list(atoms), groups or {}, list(decompositions)
        is_regular = not self._is_irregular and self._only_adds(fresh, groups)
        groups_before = {name: self.or_groups.get(name) for name in groups}
        parents = {split.parent for split in splits if split.parent in self.atoms}
        needs_before = {parent: standing.units_needed(parent) for parent in parents} if standing is not None else {}
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
        """Computes everything again after any other change of the loop, for example after atoms were removed."""
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
        """Whether every unit stays the same: no name occurs twice, and no existing atom becomes a choice."""
        ids = [atom.id for atom in atoms]
        if len(set(ids)) < len(ids) or any(atom_id in self.atoms for atom_id in ids):
            return False
        choices: list[str] = []
        for name, group in groups.items():
            before = self.or_groups.get(name)
            known = set(before.choices) if before is not None else set[str]()
            if not known.issubset(group.choices) or group.selected not in group.choices:
                return False
            new = set(group.choices) - known
            if any(choice in self.group_of or choice in self.atoms or self._is_needed(choice) for choice in new):
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
        """As `ready`, but one atom after the other. A caller that needs only the first few does not pay for all.

        Each atom is ready at the moment it is returned, also if the loop changed since the previous atom.
        """
        if self._stand() is None:
            yield from (atom_id for atom_id in self.ready() if self.why_not_ready(atom_id) is None)
            return
        reader, given = object(), set[str]()
        while (following := self._best_ready_but(given, reader)) is not None:
            given.add(following)
            yield following

    def _best_ready_but(self, given: set[str], reader: object) -> str | None:
        standing = self._stand()  # another object if everything was rebuilt meanwhile
        if standing is not None:
            return standing.ranking.best_but(given, reader)
        return next((atom_id for atom_id in self.ready() if atom_id not in given), None)

    def unresolved_count(self) -> int:
        """How many atoms are required and not resolved. Repairs are not counted."""
        standing = self._stand()
        if standing is not None:
            return len(standing.unresolved)
        return sum(self.atoms[atom_id].repairs is None for atom_id in self.unresolved())

    def take_news(self) -> set[str] | None:
        """Atoms that changed, or are required in another way, since the last call. None: any atom may have changed."""
        if self._standing is None:
            return None
        news, self._standing.news = self._standing.news, set()
        return news

    # --- computed values ----------------------------------------------------------------------------------------

    def _stand(self) -> Standing | None:
        if self._standing is None and not self._is_irregular:
            self._is_irregular = not self._is_regular()
            self._standing = None if self._is_irregular else Standing(self)
        return self._standing

    def _standing_if_asked(self, question: str) -> Standing | None:
        """Called before a change. After the first question the answer is kept up to date and not computed again."""
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
