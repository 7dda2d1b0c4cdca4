"""Changes of single atoms and groups: add, start, abandon, describe, decompose, choose.

What becomes of an attempt is elsewhere: `resolution` and `failure`.
"""

from __future__ import annotations

import msgspec

from aotloop.app.loops import apply
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.effects import Added, Backtracked, Effect
from aotloop.core.model import Loop
from aotloop.statefile.store import Store


class NewAtom(msgspec.Struct, frozen=True, kw_only=True):
    """`atom` None: the next free id. A group that does not exist yet is made, with this atom selected."""

    description: str
    atom: str | None = None
    depends_on: tuple[str, ...] = ()
    or_group: str | None = None
    run: str | None = None
    covers: tuple[str, ...] = ()
    estimate: float | None = None

    @property
    def event(self) -> events.AtomAdded:
        return events.AtomAdded(**msgspec.structs.asdict(self))


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A child of a decomposed atom. `atom` None: the next free id. `probe`: a probe comes before the first attempt."""

    description: str
    atom: str | None = None
    covers: tuple[str, ...] = ()
    probe: bool = False


class Switched(msgspec.Struct, frozen=True, kw_only=True):
    """A group continues with another choice; work that was built on the old choice is reset."""

    or_group: str
    left: str
    selected: str
    reset: tuple[str, ...]
    undone: tuple[str, ...]
    """Of these the results are to be taken back."""
    round: int
    """How often all choices had their turn."""


def add_atom(store: Store, new: NewAtom) -> str:
    (added,) = _added(apply(store, new.event))
    return added


def start_atom(store: Store, atom_id: str) -> None:
    """Refused unless everything that the atom waits for is resolved."""
    apply(store, events.AtomStarted(atom=atom_id))


def abandon_atom(store: Store, atom_id: str) -> None:
    """The atom is pending again; this counts as no attempt."""
    apply(store, events.AtomAbandoned(atom=atom_id))


def write_binding(store: Store, atom_id: str, summary: str, artifacts: tuple[str, ...]) -> None:
    """Writes the result of an atom: later work sees nothing else of it."""
    apply(store, events.BindingWritten(atom=atom_id, summary=summary, artifacts=artifacts))


def decompose_atom(store: Store, parent: str, parts: tuple[Part, ...], reason: str) -> tuple[str, ...]:
    """The ids of the children. They take over the dependencies of the parent, which resolves with the last of them."""
    children = tuple(events.Child(**msgspec.structs.asdict(part)) for part in parts)
    return _added(apply(store, events.AtomDecomposed(parent=parent, children=children, reason=reason)))


def covers_in(loop: Loop, atoms: tuple[str, ...]) -> dict[str, list[str]]:
    """Which items of the base case these atoms cover, as the file says it."""
    return {atom.id: list(atom.covers) for atom in loop.atoms if atom.id in atoms}


def select_choice(store: Store, group: str, choice: str, reason: str) -> Switched:
    """The choice that was selected counts as failed. A choice that had its turn begins another round."""
    event = events.BranchSwitched(or_group=group, choice=choice, reason=reason, at=now())
    effects = apply(store, event)
    switched = next(effect for effect in effects if isinstance(effect, Backtracked))
    return Switched(
        or_group=switched.or_group,
        left=switched.left,
        selected=switched.selected,
        reset=switched.reset,
        undone=switched.undone,
        round=store.load().or_groups[group].round,
    )


def _added(effects: list[Effect]) -> tuple[str, ...]:
    return tuple(atom for effect in effects if isinstance(effect, Added) for atom in effect.atoms)
