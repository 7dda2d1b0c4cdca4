"""Stops a loop for a person: whoever runs it is asked and waited for; a loop that nobody runs is stopped at once.

That somebody runs it is known by the lease alone. A loop whose status is running without one was left by a crash.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.core.model import Loop, LoopStatus
from aotloop.errors import AotError
from aotloop.statefile.lease import Holder, holder_of
from aotloop.statefile.store import Store

PATIENCE = 30.0
LOOK_SECONDS = 0.05
WITHOUT_REASON = "stop requested"

OnWait = Callable[[Holder, float], None]
"""Told whom we wait for, and for how many seconds so far."""


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    status: LoopStatus
    reason: str | None = None
    runner: Holder | None = None
    """Who was asked to stop."""
    is_asked: bool = False
    was_stopped: bool = False
    """Before anybody asked."""
    abandoned: tuple[str, ...] = ()
    """Atoms that somebody was at when the loop was left."""


def ask_to_stop(store: Store, reason: str | None) -> Stopping:
    """Does what can be done at once."""

    def change(loop: Loop) -> Stopping:
        status = loop.control.status
        runner = holder_of(store.path)
        if runner is None and status == "running":
            return _stop_at_once(store, loop, reason)
        if runner is None and status != "stopped":
            raise _nothing_to_stop(status)
        if status == "running":
            advance(loop, events.StopRequested(reason=reason))
        return Stopping(
            status=status,
            reason=loop.control.stop_reason,
            runner=runner,
            is_asked=status == "running",
            was_stopped=status == "stopped" and runner is None,
        )

    return store.update(change)


def stop_and_wait(
    store: Store, reason: str | None, *, patience: float = PATIENCE, on_wait: OnWait | None = None
) -> Stopping:
    """Returns when the process that ran the loop no longer does. Whoever has only just begun to run it is asked too."""
    asked = ask_to_stop(store, reason)
    runner, began = asked.runner, time.monotonic()
    while runner is not None and _still_runs(store, runner):
        waited = time.monotonic() - began
        if waited > patience:
            raise _does_not_stop(runner, patience)
        if on_wait is not None:
            on_wait(runner, waited)
        time.sleep(LOOK_SECONDS)
        if not asked.is_asked and store.load().control.status == "running":
            asked = ask_to_stop(store, reason)
    return asked if runner is None else store.update(lambda loop: _left_by(store, loop, runner, reason))


def _still_runs(store: Store, runner: Holder) -> bool:
    now = holder_of(store.path)
    return now is not None and now.pid == runner.pid


def _left_by(store: Store, loop: Loop, runner: Holder, reason: str | None) -> Stopping:
    """The process is gone; if it did not get to stop the loop, that is done for it."""
    if loop.control.status == "running" and holder_of(store.path) is None:
        return msgspec.structs.replace(_stop_at_once(store, loop, reason), runner=runner)
    return Stopping(status=loop.control.status, reason=loop.control.stop_reason, runner=runner, is_asked=True)


def _stop_at_once(store: Store, loop: Loop, reason: str | None) -> Stopping:
    begun = tuple(atom.id for atom in loop.atoms if atom.status == "in_progress")
    for atom_id in begun:
        advance(loop, events.AtomAbandoned(atom=atom_id))
    if loop.control.redirect_requested and holder_of(store.path, "redirect") is None:
        advance(loop, events.RedirectExpired())
    words = reason or loop.control.stop_reason or WITHOUT_REASON
    advance(loop, events.LoopStopped(reason=f"user: {words.removeprefix('user: ')}"))
    return Stopping(status="stopped", reason=loop.control.stop_reason, abandoned=begun)


def _nothing_to_stop(status: LoopStatus) -> AotError:
    if status == "completed":
        return AotError("the loop is completed; there is nothing to stop", hint="`aot status` shows it.")
    return AotError("the loop has not begun; there is nothing to stop", hint="`aot gate` says whether it may begin.")


def _does_not_stop(runner: Holder, patience: float) -> AotError:
    by_force = f"; `kill {runner.pid}` ends it, and `aot stop` then tidies up" if runner.pid is not None else ""
    return AotError(
        f"{runner.name} was asked to stop, but still runs this loop after {patience:g} s",
        hint=f"It stops as soon as it can. `aot stop` waits on{by_force}.",
    )
