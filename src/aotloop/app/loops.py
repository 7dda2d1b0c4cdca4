"""Opens the state file of a loop, finds atoms and groups by name, and applies events to the loop.

`apply` is the shortest use case: it tells the machine what happened.

While a process runs the loop, that process alone establishes what becomes of atoms and groups.
"""

from __future__ import annotations

from collections.abc import Callable

from aotloop.core import events
from aotloop.core.effects import Effect
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Loop
from aotloop.errors import AotError, StateFileBusy
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import find_state_file
from aotloop.statefile.store import Store
from aotloop.text.phrases import nearest

CHECK_TIMEOUT = 120.0
"""Seconds for each command of a check, unless the caller says otherwise."""

Permit = Callable[[list[str]], None]
"""Gets the commands that are about to run. Raises NotTrusted if they may not run."""

_FACTS = (
    events.AtomStarted,
    events.AtomAbandoned,
    events.AtomFailed,
    events.AtomProbed,
    events.AtomDecomposed,
    events.BindingWritten,
    events.BranchSwitched,
    events.LoopStarted,
    events.LoopStopped,
)
"""Only the process that runs a loop may establish these."""


def open_store(state_file: str | None = None) -> Store:
    return Store(find_state_file(state_file))


def apply(store: Store, event: events.Event) -> list[Effect]:
    if isinstance(event, _FACTS):
        refuse_while_run(store)
    return store.update(lambda loop: advance(loop, event))


def refuse_while_run(store: Store) -> None:
    """Protects changes of atoms and groups: a process that runs the loop has them in memory."""
    holder = holder_of(store.path)
    if holder is not None:
        raise StateFileBusy(
            f"{holder.name} runs this loop, and only that process changes atoms and groups",
            hint="`aot redirect` changes its direction; `aot stop` ends it.",
        )


def known_atom(loop: Loop, name: str) -> Atom:
    for atom in loop.atoms:
        if atom.id == name:
            return atom
    raise _unknown("atom", name, [atom.id for atom in loop.atoms], "`aot atom list` shows them")


def known_group(loop: Loop, name: str) -> None:
    if name not in loop.or_groups:
        raise _unknown("group", name, list(loop.or_groups), "`aot graph` shows them")


def _unknown(kind: str, name: str, known: list[str], otherwise: str) -> AotError:
    if not known:
        return AotError(f"there is no {kind} {name}", hint=f"The file has no {kind}s yet.")
    if (near := nearest(name, known)) is not None:
        return AotError(f"there is no {kind} {name}", hint=f"Did you mean {near}?")
    there = f"There are: {', '.join(known)}." if len(known) <= 10 else f"There are {len(known)}; {otherwise}."
    return AotError(f"there is no {kind} {name}", hint=there)
