"""From what a client told to what it is answered: reads the file, has it decided, writes what was decided.

The plugin's shim has found the files and made sure that the call may concern them; it also catches whatever goes wrong
here, and then answers nothing. Where a session ships a feature and drives a loop for one of its phases, that loop
decides first; only when it has nothing more to say do phases.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import msgspec

from aotloop.errors import AotError
from aotloop.hooks.answers import Answer, output
from aotloop.hooks.told import Told
from aotloop.statefile.store import Store

PATIENCE = 2.0
"""Seconds. Whoever holds the lock longer than that is stopped or hangs; the session does not wait for it."""

CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


def run(event: str, payload: dict[str, Any], state_file: str | None, phase_file: str | None = None) -> bytes:
    told = msgspec.convert(payload, Told)
    store = Store(state_file, patience=PATIENCE) if state_file is not None else None
    answer = _decided(lambda: HOOKS[event](told, store))
    if phase_file is not None or event == "UserPromptSubmit":
        answer = _with_phases(event, told, answer, store, phase_file)
    return output(answer, event, told.client)


def _decided(decide: Callable[[], Answer]) -> Answer:
    try:
        return decide()
    except AotError:  # no such file, not a valid one, locked, not writable: nobody's session is harmed by that
        return Answer()


def _with_phases(event: str, told: Told, first: Answer, store: Store | None, phase_file: str | None) -> Answer:
    from aotloop.hooks import of_phases  # noqa: PLC0415 - most sessions ship nothing
    from aotloop.hooks.answers import Allow, joined  # noqa: PLC0415
    from aotloop.statefile.phase_store import PhaseStore  # noqa: PLC0415

    if event not in of_phases.HOOKS:
        return first
    if event == "PreToolUse" and first != Answer():
        return first
    is_settled = event == "Stop" and first != Answer()
    if is_settled and (not isinstance(first, Allow) or (store is not None and _is_in_charge(told, store))):
        return first
    phases = PhaseStore(phase_file, patience=PATIENCE) if phase_file is not None else None
    return joined(first, _decided(lambda: of_phases.HOOKS[event](told, phases)))


def _is_in_charge(told: Told, store: Store) -> bool:
    control = store.load().control
    return control.status == "running" and control.session_id == told.session_id


def _stop(told: Told, store: Store | None) -> Answer:
    from aotloop.hooks.stopping import Circumstances, decide  # noqa: PLC0415 - each hook loads what it needs

    if store is None or _is_run_elsewhere(store):
        return Answer()
    now = Circumstances(
        at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        commit=_commit(store),
        most_in_vain=most_in_vain(os.environ.get(CAP, "")),
    )
    return store.update(lambda loop: decide(told, loop, now))


def most_in_vain(cap: str) -> int:
    """Never more than the client heeds: what it overrides, it does without a word of ours."""
    from aotloop.hooks.stopping import MOST_IN_VAIN  # noqa: PLC0415

    return min(MOST_IN_VAIN, int(cap)) if cap.isdecimal() and int(cap) > 0 else MOST_IN_VAIN


def _commit(store: Store) -> str | None:
    from aotloop.statefile.locate import project_root  # noqa: PLC0415
    from aotloop.workspace.head import head_commit  # noqa: PLC0415

    return head_commit(project_root(store.path))


def _prompt(told: Told, store: Store | None) -> Answer:
    from aotloop.hooks.answers import Context  # noqa: PLC0415
    from aotloop.hooks.binding import decide, request_in  # noqa: PLC0415

    asked = request_in(told.prompt)
    if store is None or asked is None:
        return Answer()
    if asked.accepted is not None:
        from aotloop.session.consent import accept  # noqa: PLC0415

        try:
            accept(store, asked.accepted)
        except AotError as error:
            return Context(text=str(error))
    is_run_elsewhere = _is_run_elsewhere(store)
    return store.update(lambda loop: decide(told, loop, is_run_elsewhere=is_run_elsewhere))


def _is_run_elsewhere(store: Store) -> bool:
    """By `aot run`: it alone says what becomes of the loop, even if a session had it before."""
    from aotloop.statefile.lease import holder_of  # noqa: PLC0415

    return holder_of(store.path) is not None


def _start(told: Told, store: Store | None) -> Answer:
    from aotloop.hooks.anchoring import at_start  # noqa: PLC0415

    return at_start(told, store.load()) if store is not None else Answer()


def _compaction(told: Told, store: Store | None) -> Answer:
    from aotloop.hooks.anchoring import before_compaction  # noqa: PLC0415

    return before_compaction(told, store.load()) if store is not None else Answer()


def _tool(told: Told, store: Store | None) -> Answer:
    from aotloop.hooks.guarding import decide, paths_written  # noqa: PLC0415
    from aotloop.hooks.targets import target  # noqa: PLC0415

    denied = decide(told, None, [])
    if store is None or denied != Answer():
        return denied
    targets = [target(path, told.cwd, store.path) for path in paths_written(told)]
    return decide(told, store.load(), targets, os.path.basename(store.path))


HOOKS: dict[str, Callable[[Told, Store | None], Answer]] = {
    "SubagentStop": _stop,
    "Stop": _stop,
    "UserPromptSubmit": _prompt,
    "SessionStart": _start,
    "PreCompact": _compaction,
    "PreToolUse": _tool,
}
