"""Readiness after a change: which units are met, and which atoms are required, ready or unresolved.

Only the atoms that a change affects are touched. Each atom counts the units it still waits for; each unit counts the
required atoms that need it. A count that leaves or reaches zero passes the change on. `required` and `consumers` of the
graph are updated in place.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from aotloop.core.graph.ready_queue import Paths, Ranking
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, OrGroup

Unit = tuple[str, str]


class Standing:
    """The state of a graph that has no cycles and in which each choice belongs to one group only."""

    def __init__(self, graph: Graph) -> None:
        self.ranking = Ranking()
        self.unresolved: set[str] = set()
        """Required and not resolved. Repairs are not counted."""
        self.news: set[str] | None = None
        """Atoms that changed since the last call of `take_news`. None: any atom may have changed."""
        self._mortal: set[str] = set()
        """Repairs, and parents that failed their own check. They end when patience ends, and patience changes."""
        self._graph = graph
        self._paths = Paths(graph)
        self._met = {graph.unit_name(atom_id) for atom_id in graph.atoms if self._is_met(atom_id)}
        self._waits: dict[str, int] = {}
        self._wanted: Counter[Unit] = Counter()
        self._touched: set[str] = set(graph.atoms)
        for atom_id in graph.atoms:
            units = self.units_needed(atom_id)
            self._waits[atom_id] = len(units - self._met)
            if atom_id in graph.required:
                self._wanted.update(units)
        self._rank_touched()

    def units_needed(self, atom_id: str) -> set[Unit]:
        return {self._graph.unit_name(needed) for needed in self._graph.needs(atom_id)}

    # --- changes -------------------------------------------------------------------------------------------------

    def atom_changed(self, before: Atom, now: Atom) -> bool:
        self._touched.add(now.id)
        if before.failures != now.failures:
            self._touched.update(choice for choice in self._graph.unit(now.id) if choice in self._graph.atoms)
        self._judge(self._graph.unit_name(now.id))
        if before.estimate != now.estimate:
            self._paths.reckon(now.id)
        return self._settle()

    def patience_changed(self) -> bool:
        self._touched |= self._mortal
        return self._settle()

    def group_changed(self, name: str, before: OrGroup) -> bool:
        self._regroup(name, before)
        return self._settle()

    def grown(self, fresh: list[Atom], groups: dict[str, OrGroup | None], parents: dict[str, set[Unit]]) -> bool:
        """Adds new atoms, groups (given as they were before) and parents (given with the units they needed before)."""
        for name, before in groups.items():
            self._share_consumers(name, before)
        for atom in fresh:
            self._waits[atom.id] = 0
            self._link(atom.id, self.units_needed(atom.id))
        for parent, needed_before in parents.items():
            self._link(parent, self.units_needed(parent) - needed_before)
        for name, before in groups.items():
            self._regroup(name, before)
        for atom in fresh:
            self._judge(self._graph.unit_name(atom.id))
        self._spread([*(atom.id for atom in fresh), *self._touched])
        for atom in fresh:
            self._paths.reckon(atom.id)
        for parent in parents:
            self._paths.reckon(parent)
            self._paths.tell(parent)
        return self._settle()

    def _share_consumers(self, name: str, before: OrGroup | None) -> None:
        """An atom that needs a group also needs the group's new choices."""
        known = before.choices if before is not None else ()
        consumers = self._graph.consumers.get(known[0]) if known else None
        if consumers is not None:
            new = set(self._members(("group", name))).difference(known)
            self._graph.consumers.update({choice: consumers.copy() for choice in new})

    def _link(self, consumer: str, units: Iterable[Unit]) -> None:
        self._touched.add(consumer)
        for unit in units:
            members = self._members(unit)
            self._touched.update(members)
            for member in members:
                self._graph.consumers.setdefault(member, []).append(consumer)
            self._waits[consumer] += unit not in self._met
            self._wanted[unit] += consumer in self._graph.required

    def _regroup(self, name: str, before: OrGroup | None) -> None:
        now = self._graph.or_groups[name]
        self._touched.update(now.choices)
        self._judge(("group", name))
        self._spread([now.selected, *((before.selected,) if before is not None else ())])

    # --- consequences --------------------------------------------------------------------------------------------

    def _judge(self, unit: Unit) -> None:
        """Whether the unit is met. A change is passed on to all atoms that need it."""
        members = self._members(unit)
        is_met = self._graph.satisfied(members[0])
        if is_met == (unit in self._met):
            return
        (self._met.add if is_met else self._met.discard)(unit)
        self._touched.update(members)
        for consumer in self._graph.consumers.get(members[0], ()):
            self._waits[consumer] += -1 if is_met else 1
            if self._waits[consumer] == (0 if is_met else 1):
                self._touched.add(consumer)

    def _spread(self, atom_ids: list[str]) -> None:
        """Updates which atoms are required. New ones come first, so that no atom is dropped and then needed again."""
        for becomes in (True, False):
            queue = deque(atom_ids)
            while queue:
                atom_id = queue.popleft()
                if becomes == (atom_id in self._graph.required) or becomes != self._is_required(atom_id):
                    continue
                (self._graph.required.add if becomes else self._graph.required.discard)(atom_id)
                self._touched.update(self._graph.unit(atom_id))
                self._paths.tell(atom_id, self._paths.of(atom_id))
                for unit in self.units_needed(atom_id):
                    self._wanted[unit] += 1 if becomes else -1
                    if self._wanted[unit] == (1 if becomes else 0):
                        queue.append(self._chosen(unit))

    def _is_required(self, atom_id: str) -> bool:
        if atom_id not in self._graph.atoms or self._graph.is_unselected(atom_id):
            return False
        return not self._graph.consumers.get(atom_id) or self._wanted[self._graph.unit_name(atom_id)] > 0

    def _settle(self) -> bool:
        """Whether all consequences were computed. If not, it is cheaper to compute everything again."""
        if not self._paths.settle():
            return False
        self._touched |= self._paths.changed
        self._paths.changed.clear()
        self._rank_touched()
        return True

    def _rank_touched(self) -> None:
        graph = self._graph
        for atom_id in self._touched:
            atom = graph.atoms.get(atom_id)
            if atom is None:
                continue
            if atom.attempts and (atom.repairs is not None or atom_id in graph.children_of):
                self._mortal.add(atom_id)
            else:
                self._mortal.discard(atom_id)
            if atom.status != "resolved" and atom.repairs is None and atom_id in graph.required:
                self.unresolved.add(atom_id)
            else:
                self.unresolved.discard(atom_id)
            if self._waits[atom_id] or graph.why_not_startable(atom_id) is not None:
                self.ranking.remove(atom_id)
            else:
                self.ranking.place(atom_id, graph.rank(atom_id))
        if self.news is not None:
            self.news |= self._touched
        self._touched.clear()

    # --- units ---------------------------------------------------------------------------------------------------

    def _members(self, unit: Unit) -> tuple[str, ...]:
        kind, name = unit
        return self._graph.or_groups[name].choices if kind == "group" else (name,)

    def _chosen(self, unit: Unit) -> str:
        kind, name = unit
        return self._graph.or_groups[name].selected if kind == "group" else name

    def _is_met(self, atom_id: str) -> bool:
        return self._graph.atoms[atom_id].status == "resolved" and not self._graph.is_unselected(atom_id)
