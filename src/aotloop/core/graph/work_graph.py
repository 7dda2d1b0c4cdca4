"""The work graph: which atoms are required, which are ready, which comes first, and where a cycle is.

The choices of an OR group count as one *unit*: an atom that depends on one choice depends on the group. A decomposed
parent depends on its children. Everything here is computed from the loop, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from aotloop.core.model import Atom, Decomposition, Loop, OrGroup
from aotloop.core.policy.turns import patience

DEFAULT_ESTIMATE = 1.0

Rank = tuple[bool, float, int, int, int]
"""Smaller is better. No two atoms have the same rank."""

LONGEST_NUMBER = 18
"""The most digits of a numbered id. Longer ids are not used for counting."""


class Graph:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.atoms: dict[str, Atom] = {atom.id: atom for atom in loop.atoms}
        self.position: dict[str, int] = {atom.id: number for number, atom in enumerate(loop.atoms)}
        self.group_of: dict[str, str] = {
            choice: name for name, group in loop.or_groups.items() for choice in group.choices
        }
        self.children_of: dict[str, tuple[str, ...]] = {}
        self.parents_of: dict[str, list[str]] = {}
        for split in loop.decompositions:
            self.add_parts(split)

    @cached_property
    def highest_number(self) -> int:
        """The highest number of all ids like A1, including choices that are not atoms yet."""
        return highest_number((*self.atoms, *self.group_of))

    # --- structure ---------------------------------------------------------------------------------------------

    def add_parts(self, split: Decomposition) -> None:
        self.children_of[split.parent] = self.children_of.get(split.parent, ()) + split.children
        for child in split.children:
            self.parents_of.setdefault(child, []).append(split.parent)

    @property
    def or_groups(self) -> dict[str, OrGroup]:
        return self.loop.or_groups

    def group(self, atom_id: str) -> OrGroup | None:
        name = self.group_of.get(atom_id)
        return self.loop.or_groups[name] if name is not None else None

    def needs(self, atom_id: str) -> Iterator[str]:
        """The atoms that this atom waits for directly: its dependencies and, if it was decomposed, its children."""
        atom = self.atoms.get(atom_id)
        if atom is not None:
            yield from atom.depends_on
        yield from self.children_of.get(atom_id, ())

    @cached_property
    def consumers(self) -> dict[str, list[str]]:
        """For each atom, the atoms that wait for it directly. A choice shares its consumers with its whole group."""
        direct: dict[str, list[str]] = {}
        for atom_id in self.atoms:
            for member in self.needed_units(atom_id):
                direct.setdefault(member, []).append(atom_id)
        return direct

    def downstream(self, atom_ids: Iterable[str]) -> set[str]:
        """Every atom that waits for one of these atoms, directly or indirectly."""
        return self._reached(atom_ids, through_unselected=True)

    def built_on(self, atom_ids: Iterable[str]) -> set[str]:
        """As `downstream`, but not through unselected choices, because no work is built on those."""
        return self._reached(atom_ids, through_unselected=False)

    def _reached(self, atom_ids: Iterable[str], *, through_unselected: bool) -> set[str]:
        reached: set[str] = set()
        open_ids = list(atom_ids)
        while open_ids:
            for consumer in self.consumers.get(open_ids.pop(), ()):
                if consumer not in reached:
                    reached.add(consumer)
                    if through_unselected or not self.is_unselected(consumer):
                        open_ids.append(consumer)
        return reached

    def descendants(self, atom_id: str) -> set[str]:
        """Children, their children, and so on. For a child that is a choice, also the other choices."""
        reached: set[str] = set()
        open_ids = [atom_id]
        while open_ids:
            for child in self.children_of.get(open_ids.pop(), ()):
                fresh = [member for member in self.unit(child) if member not in reached]
                reached.update(fresh)
                open_ids.extend(fresh)
        return reached

    def depth(self, atom_id: str) -> int:
        """How many decompositions are above this atom."""
        levels, seen = 0, {atom_id}
        while parents := [parent for parent in self.parents_of_unit(atom_id) if parent not in seen]:
            atom_id = parents[0]
            seen.add(atom_id)
            levels += 1
        return levels

    def parents_of_unit(self, atom_id: str) -> list[str]:
        """The parents of this atom. A choice shares the parents of all choices of its group."""
        parents = {parent: None for member in self.unit(atom_id) for parent in self.parents_of.get(member, ())}
        return [parent for parent in parents if parent in self.atoms]

    def needed_units(self, atom_id: str) -> dict[str, None]:
        """Every choice of every group it needs, and every single atom, each once."""
        return {member: None for needed in self.needs(atom_id) for member in self.unit(needed)}

    def unit(self, atom_id: str) -> tuple[str, ...]:
        """The atom itself or, for a choice, all choices of its group."""
        group = self.group(atom_id)
        return group.choices if group is not None else (atom_id,)

    # --- state -------------------------------------------------------------------------------------------------

    def satisfied(self, atom_id: str) -> bool:
        """Whether a dependency on this atom is met. For a choice, the selected choice of its group counts."""
        group = self.group(atom_id)
        atom = self.atoms.get(group.selected if group is not None else atom_id)
        return atom is not None and atom.status == "resolved"

    def waits_for(self, atom_id: str) -> list[str]:
        return [needed for needed in self.needs(atom_id) if not self.satisfied(needed)]

    def is_unselected(self, atom_id: str) -> bool:
        group = self.group(atom_id)
        return group is not None and group.selected != atom_id

    @cached_property
    def required(self) -> set[str]:
        """All atoms except unselected choices and atoms that only unrequired atoms wait for."""
        required: set[str] = set()
        for atom_id in self.consumers_first:
            if self.is_unselected(atom_id):
                continue
            consumers = self.consumers.get(atom_id)
            if not consumers or any(consumer in required for consumer in consumers):
                required.add(atom_id)
        return required

    def unresolved(self) -> list[str]:
        """The atoms that are required and not resolved, in file order."""
        return [atom.id for atom in self.loop.atoms if atom.status != "resolved" and atom.id in self.required]

    def ready(self) -> list[str]:
        """The atoms that can start now, best first; see `rank`."""
        ready = [atom.id for atom in self.loop.atoms if self.why_not_ready(atom.id) is None]
        return sorted(ready, key=self.rank)

    def rank(self, atom_id: str) -> Rank:
        """The order of starts, lowest first: never tried, longest path, most consumers, fewest failures, file order."""
        failures = sum(self.atoms[choice].failures for choice in self.unit(atom_id) if choice in self.atoms)
        consumers = len(self.consumers.get(atom_id, ()))
        return failures > 0, -self.remaining_path[atom_id], -consumers, failures, self.position[atom_id]

    def why_not_ready(self, atom_id: str) -> str | None:
        """None if the atom can start now; otherwise the reason, written for a person."""
        return self.why_not_startable(atom_id) or self._why_waiting(atom_id)

    def why_not_startable(self, atom_id: str) -> str | None:
        """Why the atom could not start even if all its dependencies were resolved."""
        if self.atoms[atom_id].status != "pending":
            return f"{atom_id} is {self.atoms[atom_id].status}, not pending"
        if atom_id in self.children_of:
            children = ", ".join(self.children_of[atom_id])
            return f"{atom_id} was decomposed; it resolves by itself when {children} have"
        if self.is_exhausted(atom_id):
            return f"{atom_id} has failed {self.atoms[atom_id].attempts} times; a correction can grant it a retry"
        return self.why_not_wanted(atom_id)

    def is_exhausted(self, atom_id: str) -> bool:
        """Whether a repair, or a parent that fails its own check, was tried as often as patience allows."""
        atom = self.atoms[atom_id]
        if atom.repairs is None and atom_id not in self.children_of:
            return False
        return atom.attempts >= patience(self.loop)

    def why_not_wanted(self, atom_id: str) -> str | None:
        """None if the atom's result would be useful; otherwise the reason, written for a person."""
        group = self.group(atom_id)
        if group is None:
            return None if atom_id in self.required else f"nothing required depends on {atom_id}"
        name = self.group_of[atom_id]
        if atom_id in group.failed or atom_id in group.blamed:
            return f"{atom_id} has had its turn in this round of {name}"
        if self.satisfied(atom_id):
            return f"group {name} is settled by {group.selected}"
        if group.selected not in self.required:
            return f"nothing required depends on group {name}"
        if group.selected != atom_id and (not group.speculative or group.won is not None):
            return f"group {name} has selected {group.selected}, not {atom_id}"
        return None

    def _why_waiting(self, atom_id: str) -> str | None:
        waiting = self.waits_for(atom_id)
        return f"{atom_id} waits for {', '.join(waiting)}" if waiting else None

    # --- order -------------------------------------------------------------------------------------------------

    @cached_property
    def remaining_path(self) -> dict[str, float]:
        """Estimated minutes from the start of an atom to the end of the longest chain that waits for it."""
        longest: dict[str, float] = {}
        for atom_id in self.consumers_first:
            longest[atom_id] = self.path_before(atom_id, longest)
        return longest

    def path_before(self, atom_id: str, longest: dict[str, float]) -> float:
        """The atom's own estimate plus the longest path of all required atoms that wait for it."""
        consumers = [consumer for consumer in self.consumers.get(atom_id, ()) if consumer in self.required]
        after = [longest[consumer] for consumer in consumers if consumer in longest]
        return self.own_estimate(atom_id) + max(after, default=0.0)

    def own_estimate(self, atom_id: str) -> float:
        if atom_id in self.children_of:
            return 0.0
        estimate = self.atoms[atom_id].estimate
        return DEFAULT_ESTIMATE if estimate is None else estimate

    @cached_property
    def consumers_first(self) -> list[str]:
        """All atoms, each after the atoms that wait for it. Atoms on a cycle come last, in file order."""
        placed = set(self._placed)
        return self._placed + [atom_id for atom_id in self.atoms if atom_id not in placed]

    @property
    def has_cycle(self) -> bool:
        return len(self._placed) < len(self.atoms)

    @cached_property
    def _placed(self) -> list[str]:
        """All atoms that are on no cycle, each after the atoms that wait for it."""
        waiting = {atom_id: len(self.consumers.get(atom_id, ())) for atom_id in self.atoms}
        order = [atom_id for atom_id, count in waiting.items() if not count]
        for atom_id in order:  # the list grows during the walk
            for member in self.needed_units(atom_id):
                if member in waiting:
                    waiting[member] -= 1
                    if not waiting[member]:
                        order.append(member)
        return order

    def find_cycle(self) -> list[str] | None:
        """One cycle, with its first atom repeated at the end, or None. No recursion, because graphs may be deep."""
        finished: set[str] = set()
        for start in self.atoms:
            if start in finished:
                continue
            path: list[str] = [start]
            on_path = {self.unit_name(start)}
            stack = [self._unit_needs(start)]
            while stack:
                following = next(stack[-1], None)
                if following is None:
                    stack.pop()
                    done = path.pop()
                    on_path.discard(self.unit_name(done))
                    finished.update(self.unit(done))
                elif self.unit_name(following) in on_path:
                    units = [self.unit_name(atom_id) for atom_id in path]
                    return [*path[units.index(self.unit_name(following)) :], following]
                elif following not in finished and following in self.atoms:
                    path.append(following)
                    on_path.add(self.unit_name(following))
                    stack.append(self._unit_needs(following))
        return None

    def unit_name(self, atom_id: str) -> tuple[str, str]:
        name = self.group_of.get(atom_id)
        return ("group", name) if name is not None else ("atom", atom_id)

    def _unit_needs(self, atom_id: str) -> Iterator[str]:
        for member in self.unit(atom_id):
            yield from self.needs(member)


def highest_number(ids: Iterable[str]) -> int:
    numbered = (name[1:] for name in ids if name[:1] == "A" and name[1:].isdecimal() and len(name) < LONGEST_NUMBER)
    return max(map(int, numbered), default=0)
