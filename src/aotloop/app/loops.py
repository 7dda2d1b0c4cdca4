"""Opens the state file of a loop and tells the machine what happened: `apply` is the shortest use case.

While a process runs the loop, that process alone establishes what becomes of atoms and groups.
"""

from __future__ import annotations

from collections.abc import Callable

from aotloop.core import events
from aotloop.core.effects import Effect
from aotloop.core.machine import advance
from aotloop.errors import StateFileBusy
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import find_state_file
from aotloop.statefile.store import Store

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
    """For changes of what a process that runs the loop keeps in its memory."""
    holder = holder_of(store.path)
    if holder is not None:
        raise StateFileBusy(
            f"{holder.name} runs this loop, and only that process changes atoms and groups",
            hint="`aot redirect` changes its direction; `aot stop` ends it.",
        )
