"""The gate: a loop starts only if its file is valid, its objective is complete, and it waits to be started."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.app.loops import apply
from aotloop.app.preflight.agreement import remember_agreement, require_agreement
from aotloop.core import events
from aotloop.core.gate import Gate, gate_of
from aotloop.core.handlers.status import holding_session
from aotloop.core.invariants import findings_of
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid, StateFileMissing, Unavailable
from aotloop.statefile.store import Store


def look_at_gate(store: Store) -> Gate:
    """The answer for a person who asks. A missing file is an answer too."""
    try:
        examination = store.examine()
    except StateFileMissing:
        return Gate(ready=False, missing=("state file",), status=None)
    return gate_of(examination.loop, examination.findings)


def require_open_gate(store: Store, loop: Loop) -> Gate:
    """For a driver that holds the lease: a loop that is `running` nevertheless has crashed, and starts again."""
    waiting = loop.snapshot()
    if loop.control.status == "running":
        waiting.control = replace(loop.control, status="stopped")
    opened = gate_of(waiting, findings_of(loop))
    if not opened.ready:
        raise _closed(store, opened)
    return opened


def leave_session(store: Store, loop: Loop, *, take_over: bool) -> Loop:
    """The loop, bound to no session. A session that has left the loop holds it no longer."""
    if loop.control.session_id is None:
        return loop
    holder = holding_session(loop.control)
    if holder is not None and not take_over:
        raise Unavailable(
            f"the session {holder} drives this loop",
            hint="Leave it there with `/aot-loop:exit-recursion`; or `aot run --take-over` takes it from that session.",
        )
    store.update(lambda now: advance(now, events.SessionBound(session_id=None, take_over=take_over)))
    return store.load()


def start_by_hand(store: Store) -> None:
    """Without a driver: the caller works on the atoms itself. A loop that runs already stays as it is."""
    loop = store.load()
    if loop.control.status != "running":
        opened = look_at_gate(store)
        if not opened.ready:
            raise _closed(store, opened)
        require_agreement(store, loop)
    apply(store, events.LoopStarted())
    if loop.control.status == "pending":
        remember_agreement(store, loop.objective)


def _closed(store: Store, closed: Gate) -> StateFileInvalid:
    return StateFileInvalid(
        f"{store.path}: the loop cannot start; missing: {'; '.join(closed.missing)}", hint="`aot gate` gives details."
    )
