"""The oracle: an independent and plain definition of "required", "ready" and "built on".

It uses no code of the machine's own graph: an error there must not hide itself.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from aotloop.core.model import Atom, Loop, OrGroup
from aotloop.core.policy import turns


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
        """The atoms that need this atom, or another choice of its group."""
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
        if this.status != "pending" or self.parts(atom):
            return False
        if this.repairs is not None and this.attempts >= patience_of(self.loop):
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
        """All atoms that depend on them, also indirectly, through any choice."""
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

    # --- what is reckoned ----------------------------------------------------------------------------------------

    def failures(self, atom: str) -> int:
        """Of all choices of its unit."""
        return sum(self.atoms[one].failures for one in self.unit(atom))

    def path(self, atom: str) -> float:
        """The longest way from its start to the end of all that waits for it."""
        estimate = self.atoms[atom].estimate
        own = 0.0 if self.parts(atom) else 1.0 if estimate is None else estimate
        return own + max((self.path(one) for one in self.users(atom) if self.is_required(one)), default=0.0)

    def rank(self, atom: str) -> tuple[bool, float, int, int, int]:
        """Never tried, longest way, most users, fewest failures, first in the file."""
        failures, place = self.failures(atom), list(self.atoms).index(atom)
        return failures > 0, -self.path(atom), -len(self.users(atom)), failures, place

    def rests_on(self, atom: str) -> set[str]:
        """The groups among all that it needs and is a part of, however indirectly; a repair rests on all in use."""
        if self.atoms[atom].repairs is not None and not self._wholes(atom):
            return {name for name, group in self.loop.or_groups.items() if self.is_required(group.selected)}
        found: set[str] = set()
        open_ids = [(atom, True)]
        if self.atoms[atom].repairs is not None:
            open_ids = [(one, True) for one in self._wholes(atom)]
        for one, with_parts in open_ids:  # grows while we walk it
            group = self.group_of(one)
            current = one if group is None or one == atom else group.selected
            found |= {name for name, other in self.loop.or_groups.items() if other is group}
            further = [(needed, True) for needed in self.atoms[current].depends_on]
            further += [(whole, False) for whole in self._wholes(current)]
            further += [(part, True) for part in self.parts(current)] if with_parts else []
            open_ids += [pair for pair in further if pair not in open_ids]
        return found

    def _wholes(self, atom: str) -> list[str]:
        unit = self.unit(atom)
        return [split.parent for split in self.loop.decompositions if any(one in split.children for one in unit)]


def usual_of(loop: Loop) -> Fraction:
    return Fraction(loop.control.needed + 2, loop.control.won + 1)


def at_worst(loop: Loop) -> Fraction:
    """What an atom may need if the first to be resolved were the easy ones."""
    return Fraction(loop.control.needed + 6, loop.control.won + 1)


def turn_of(loop: Loop) -> int:
    longest = loop.objective.constraints.max_attempts
    assert longest is not None
    return min(longest, max(1, floor(usual_of(loop) + Fraction(1, 2))))


def patience_of(loop: Loop) -> int:
    longest = loop.objective.constraints.max_attempts
    assert longest is not None
    share = (loop.objective.constraints.max_total_attempts or 0) // turns.SHARE
    return max(longest, min(round(turns.PATIENCE * at_worst(loop)), share))


def is_hopeful(loop: Loop, atom: Atom, group: OrGroup, failures: int) -> bool:
    """It left work that holds, and nothing speaks against it."""
    return atom.partial and failures < patience_of(loop) and not group.blames.get(atom.id)
