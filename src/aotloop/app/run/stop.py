"""Stops a loop: the process that runs it is asked and waited for; a loop that no process runs is stopped at once.

Only the lease tells whether a process runs the loop. A loop that is `running` without a lease was left by a crash.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.app.loops import apply
from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.core.model import Loop, LoopStatus
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.statefile.lease import Holder, holder_of
from aotloop.statefile.locate import STATE_FILE, project_root
from aotloop.statefile.store import Store

PATIENCE = 30.0
LOOK_SECONDS = 0.05
WITHOUT_REASON = "stop requested"

OnWait = Callable[[Holder, float], None]
"""Gets the process that is waited for, and the seconds so far."""


class StopResult(msgspec.Struct, frozen=True, kw_only=True):
    status: LoopStatus
    reason: str | None = None
    runner: Holder | None = None
    """The process that was asked to stop."""
    is_asked: bool = False
    was_stopped: bool = False
    """Before this request."""
    abandoned: tuple[str, ...] = ()
    """Atoms that were in progress when the loop was left."""


def stopped_in_words(stopping: StopResult, *, is_waiting: bool = False) -> str:
    """The result, in words for a person."""
    reason = f" ({stopping.reason})" if stopping.reason else ""
    runner = stopping.runner.name if stopping.runner is not None else "no process"
    if stopping.was_stopped:
        return f"the loop is already stopped{reason}"
    if is_waiting:
        return f"{runner} was asked to stop{reason}"
    if stopping.status == "stopped":
        again = f"; {', '.join(stopping.abandoned)} will be done again" if stopping.abandoned else ""
        alone = "" if stopping.runner is not None else "; no process was running it"
        return f"the loop is stopped{reason}{alone}{again}"
    if stopping.status == "completed":
        return "the loop was completed before it stopped: the base case holds"
    return f"{runner} has ended, and the loop is {stopping.status}"


def ask_to_stop(store: Store, reason: str | None) -> StopResult:
    """Asks the process that runs the loop to stop; stops a loop at once that no process runs."""

    def change(loop: Loop) -> StopResult:
        status = loop.control.status
        runner = holder_of(store.path)
        if runner is None and status == "running":
            return _stop_at_once(store, loop, reason)
        if runner is None and status != "stopped":
            raise _nothing_to_stop(status)
        if status == "running":
            advance(loop, events.StopRequested(reason=reason))
        return StopResult(
            status=status,
            reason=loop.control.stop_reason,
            runner=runner,
            is_asked=status == "running",
            was_stopped=status == "stopped" and runner is None,
        )

    return store.update(change)


def stop_and_wait(
    store: Store, reason: str | None, *, patience: float = PATIENCE, on_wait: OnWait | None = None
) -> StopResult:
    """Returns when no process runs the loop any more. A process that has just begun is asked too."""
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


def _left_by(store: Store, loop: Loop, runner: Holder, reason: str | None) -> StopResult:
    """The process has ended. If it did not stop the loop, the loop is stopped here."""
    if loop.control.status == "running" and holder_of(store.path) is None:
        return msgspec.structs.replace(_stop_at_once(store, loop, reason), runner=runner)
    return StopResult(status=loop.control.status, reason=loop.control.stop_reason, runner=runner, is_asked=True)


def _stop_at_once(store: Store, loop: Loop, reason: str | None) -> StopResult:
    begun = tuple(atom.id for atom in loop.atoms if atom.status == "in_progress")
    for atom_id in begun:
        advance(loop, events.AtomAbandoned(atom=atom_id))
    if loop.control.redirect_requested and holder_of(store.path, "redirect") is None:
        advance(loop, events.RedirectExpired())
    words = reason or loop.control.stop_reason or WITHOUT_REASON
    advance(loop, events.LoopStopped(reason=f"user: {words.removeprefix('user: ')}"))
    return StopResult(status="stopped", reason=loop.control.stop_reason, abandoned=begun)


def _nothing_to_stop(status: LoopStatus) -> AotError:
    if status == "completed":
        return AotError("the loop is completed; there is nothing to stop", hint="`aot status` shows it.")
    return AotError("the loop has not begun; there is nothing to stop", hint="`aot gate` says whether it may begin.")


def _does_not_stop(runner: Holder, patience: float) -> AotError:
    by_force = f"; `kill {runner.pid}` ends it, then `aot stop` cleans up" if runner.pid is not None else ""
    return AotError(
        f"{runner.name} was asked to stop, but it still runs this loop after {patience:g} s",
        hint=f"It stops as soon as possible. `aot stop` waits again{by_force}.",
    )


def request_stop(store: Store, reason: str | None) -> None:
    """Only asks. The driver of the loop stops it as soon as it can."""
    apply(store, events.StopRequested(reason=reason))


def stop_by_hand(store: Store, reason: str | None) -> None:
    """For a driver that is no process, such as a session that works on the atoms itself."""
    apply(store, events.LoopStopped(reason=reason))


def stop_work_of(phase_file: str, feature: PhaseLoop, *, patience: float = 2.0) -> bool:
    """Stops the loop of a feature that was given up. True if the same session drove such a loop."""
    path = Path(project_root(phase_file), STATE_FILE)
    if feature.session_id is None or not path.is_file():
        return False

    def change(loop: Loop) -> bool:
        control = loop.control
        is_its_work = loop.objective.goal == feature.feature and control.session_id == feature.session_id
        if not is_its_work or control.status != "running":
            return False
        advance(loop, events.StopRequested(reason="the feature was given up"))
        return True

    with suppress(AotError):
        return Store(str(path), patience=patience).update(change)
    return False
