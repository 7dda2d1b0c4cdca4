"""What "required", "ready" and "built on" mean, said once more and as plainly as possible.

Nothing of the machine's own graph is used: an error there must not hide itself.
"""

from __future__ import annotations

from aotloop.core.model import Atom, Loop, OrGroup


class Plain:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.atoms: dict[str, Atom] = {atom.id: atom for atom in loop.atoms}
        self._required: dict[str, bool] = {}

    def group_of(self, atom: str) -> OrGroup | None:
        for group in self.loop.or_groups.values():
            if atom in group.choices:
                return group
        return None

    def unit(self, atom: str) -> tuple[str, ...]:
        group = self.group_of(atom)
        return (atom,) if group is None else group.choices

    def parts(self, atom: str) -> list[str]:
        return [one for split in self.loop.decompositions if split.parent == atom for one in split.children]

    def needs(self, atom: str) -> list[str]:
        return [*self.atoms[atom].depends_on, *self.parts(atom)]

    def users(self, atom: str) -> list[str]:
        """Who needs this atom, or another choice of its group."""
        unit = self.unit(atom)
        return [one for one in self.atoms if any(needed in unit for needed in self.needs(one))]

    def is_met(self, atom: str) -> bool:
        group = self.group_of(atom)
        return self.atoms[atom if group is None else group.selected].status == "resolved"

    def is_required(self, atom: str) -> bool:
        if atom not in self._required:
            self._required[atom] = self._is_required(atom)
        return self._required[atom]

    def _is_required(self, atom: str) -> bool:
        group = self.group_of(atom)
        if group is not None and group.selected != atom:
            return False
        users = self.users(atom)
        return not users or any(map(self.is_required, users))

    def is_ready(self, atom: str) -> bool:
        this, group = self.atoms[atom], self.group_of(atom)
        allowed = self.loop.objective.constraints.max_attempts
        if this.status != "pending" or self.parts(atom) or this.attempts >= allowed:
            return False
        if not all(map(self.is_met, this.depends_on)):
            return False
        if group is None:
            return self.is_required(atom)
        is_open = atom not in group.failed and atom not in group.blamed and not self.is_met(atom)
        is_taken = group.selected == atom or (group.speculative and group.won is None)
        return is_open and is_taken and self.is_required(group.selected)

    def unresolved(self) -> list[str]:
        return [one for one, atom in self.atoms.items() if atom.status != "resolved" and self.is_required(one)]

    def all_parts(self, atom: str) -> set[str]:
        found: set[str] = set()
        for part in self.parts(atom):
            for one in self.unit(part):
                found |= {one} | self.all_parts(one)
        return found

    def needing(self, atoms: set[str]) -> set[str]:
        """All that depend on them, however indirectly, through whichever choice."""
        found = {user for atom in atoms for user in self.users(atom)}
        return found | (self.needing(found) if found else set())

    def built_on(self, atoms: set[str]) -> set[str]:
        """As `needing`, but nothing is built on a choice that is not selected."""
        found = {user for atom in atoms for user in self.users(atom)}
        relied_on = {one for one in found if (group := self.group_of(one)) is None or group.selected == one}
        return found | (self.built_on(relied_on) if relied_on else set())

    def untried(self, name: str) -> list[str]:
        group = self.loop.or_groups[name]
        left = {group.selected, *group.failed, *group.blamed}
        return [one for one in group.choices if one not in left]

    def was_begun(self, atom: str) -> bool:
        return self.atoms[atom].status != "pending" or self.atoms[atom].attempts > 0
