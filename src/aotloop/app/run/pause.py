"""Pauses a run and ends the pause: nothing new starts, running attempts continue, and nothing is lost."""

from __future__ import annotations

import msgspec

from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.statefile.lease import Holder, holder_of
from aotloop.statefile.store import Store


class PauseResult(msgspec.Struct, frozen=True, kw_only=True):
    paused: bool
    has_changed: bool
    """False: it was in this state already."""
    in_progress: tuple[str, ...] = ()
    """Atoms whose attempts continue."""


def pause(store: Store) -> PauseResult:
    """Raises AotError if no process runs the loop: then nothing could be paused."""
    return _asked(store, is_pause=True)


def resume(store: Store) -> PauseResult:
    """Raises AotError if no process runs the loop: `aot run` continues a loop that was stopped."""
    return _asked(store, is_pause=False)


def _asked(store: Store, *, is_pause: bool) -> PauseResult:
    def change(loop: Loop) -> PauseResult:
        _require_run(loop, holder_of(store.path), is_pause=is_pause)
        before = loop.control.paused
        if before != is_pause:
            advance(loop, events.PauseRequested() if is_pause else events.PauseEnded())
        begun = tuple(atom.id for atom in loop.atoms if atom.status == "in_progress")
        return PauseResult(paused=is_pause, has_changed=before != is_pause, in_progress=begun)

    return store.update(change)


def _require_run(loop: Loop, holder: Holder | None, *, is_pause: bool) -> None:
    if holder is not None and loop.control.status == "running":
        return
    what = "there is nothing to pause" if is_pause else "there is no pause to end"
    if holder is not None:
        raise AotError(f"{holder.name} is just starting this loop; {what}", hint="Try again in a moment.")
    if loop.control.status == "completed":
        raise AotError(f"the loop is completed; {what}", hint="`aot status` shows it.")
    if loop.control.status == "running" and loop.control.session_id is not None:
        raise AotError(f"a session drives this loop; {what}", hint="Tell the session to wait, or use `aot stop`.")
    hint = "`aot run` runs it." if is_pause else "`aot run` continues the loop."
    raise AotError(f"no process runs this loop; {what}", hint=hint)
