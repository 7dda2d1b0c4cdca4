"""The entry of all hooks: reads the client's call and the file, calls `decide`, and writes the result.

The plugin's shim has found the files and checked that the call may concern them. It also catches every error here, and
then answers nothing. If a session ships a feature and drives a loop for one of its phases, that loop decides first. The
phases decide only if that loop has no answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from aotloop.clock import now
from aotloop.core.model import Loop, Verdict
from aotloop.errors import AotError
from aotloop.hooks.answers import Allow, Answer, Context, joined, output
from aotloop.hooks.payload import Payload, most_in_vain
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store

PATIENCE = 2.0
"""Seconds. A process that holds the lock longer is stopped or hangs, and the session does not wait for it."""


def run(event: str, fields: dict[str, Any], state_file: str | None, phase_file: str | None = None) -> bytes:
    payload = msgspec.convert(fields, Payload)
    store = Store(state_file, patience=PATIENCE) if state_file is not None else None
    answer = _decided(lambda: HOOKS[event](payload, store))
    if phase_file is not None or event == "UserPromptSubmit":
        answer = _with_phases(event, payload, answer, store, phase_file)
    if payload.plugin_folder:
        answer = _with_folder(payload, answer)
    return output(answer, event, payload.client)


def _decided(decide: Callable[[], Answer]) -> Answer:
    try:
        return decide()
    except AotError:  # no file, invalid, locked, not writable: no session is harmed
        return Answer()


def _with_phases(event: str, payload: Payload, first: Answer, store: Store | None, phase_file: str | None) -> Answer:
    from aotloop.hooks.phases import phase_entry  # noqa: PLC0415 - most sessions ship nothing
    from aotloop.statefile.phases.phase_store import PhaseStore  # noqa: PLC0415

    if event not in phase_entry.HOOKS:
        return first
    if event == "PreToolUse" and first != Answer():
        return first
    is_settled = event == "Stop" and first != Answer()
    if is_settled and (not isinstance(first, Allow) or (store is not None and _is_in_charge(payload, store))):
        return first
    phases = PhaseStore(phase_file, patience=PATIENCE) if phase_file is not None else None
    return joined(first, _decided(lambda: phase_entry.HOOKS[event](payload, phases)))


def _with_folder(payload: Payload, answer: Answer) -> Answer:
    where = Context(text=f"In the texts of aot-loop, ${{CLAUDE_PLUGIN_ROOT}} is {payload.plugin_folder}")
    return joined(answer, where) if isinstance(answer, Context) or answer == Answer() else answer


def _is_in_charge(payload: Payload, store: Store) -> bool:
    control = store.load().control
    return control.status == "running" and control.session_id == payload.session_id


def _stop(payload: Payload, store: Store | None) -> Answer:
    from aotloop.hooks.agent_stop import Circumstances, decide  # noqa: PLC0415 - each hook loads what it needs

    if store is None or _is_run_elsewhere(store):
        return Answer()
    circumstances = Circumstances(
        at=now(),
        commit=_commit(store),
        most_in_vain=most_in_vain(),
        objection=lambda loop: _objection(store, loop),
        is_ours=lambda verdict: _is_ours(store, verdict),
    )
    from aotloop.hooks.coordinator import on_stop  # noqa: PLC0415

    return store.update(lambda loop: on_stop(payload, loop, decide(payload, loop, circumstances)))


def _objection(store: Store, loop: Loop) -> str | None:
    """What was agreed on, and the protected files, are compared with the copy in the person's data folder."""
    from aotloop.app.preflight.agreement import broken_agreement  # noqa: PLC0415

    return broken_agreement(store, loop)


def _is_ours(store: Store, verdict: Verdict) -> bool:
    from aotloop.trust.verdicts import is_ours  # noqa: PLC0415

    return is_ours(store.path, verdict)


def _commit(store: Store) -> str | None:
    from aotloop.git.head import head_commit  # noqa: PLC0415

    return head_commit(project_root(store.path))


def _prompt(payload: Payload, store: Store | None) -> Answer:
    from aotloop.hooks.coordinator import NOTICE, on_notice  # noqa: PLC0415
    from aotloop.hooks.user_prompt import decide, request_in  # noqa: PLC0415

    if store is not None and payload.prompt.startswith(NOTICE):
        return store.update(lambda loop: on_notice(payload, loop))
    asked = request_in(payload.prompt)
    if store is None or asked is None:
        return Answer()
    if asked.accepted is not None:
        from aotloop.app.preflight.consent import accept_shown  # noqa: PLC0415

        try:
            accept_shown(store, asked.accepted)
        except AotError as error:
            return Context(text=str(error))
    is_run_elsewhere = _is_run_elsewhere(store)
    return store.update(lambda loop: decide(payload, loop, is_run_elsewhere=is_run_elsewhere))


def _is_run_elsewhere(store: Store) -> bool:
    """Whether `aot run` runs the loop. Then only `aot run` decides about it, even if a session had it before."""
    return holder_of(store.path) is not None


def _start(payload: Payload, store: Store | None) -> Answer:
    from aotloop.hooks.coordinator import on_session_start  # noqa: PLC0415
    from aotloop.hooks.session_start import at_start  # noqa: PLC0415

    def change(loop: Loop) -> Answer:
        on_session_start(payload, loop)
        return at_start(payload, loop)

    return store.update(change) if store is not None else Answer()


def _agent_start(payload: Payload, store: Store | None) -> Answer:
    from aotloop.hooks.coordinator import at_start  # noqa: PLC0415

    return store.update(lambda loop: at_start(payload, loop)) if store is not None else Answer()


def _after_tool(payload: Payload, store: Store | None) -> Answer:
    from aotloop.hooks.coordinator import after_tool  # noqa: PLC0415

    return store.update(lambda loop: after_tool(payload, loop)) if store is not None else Answer()


def _compaction(payload: Payload, store: Store | None) -> Answer:
    from aotloop.hooks.session_start import before_compaction  # noqa: PLC0415

    return before_compaction(payload, store.load()) if store is not None else Answer()


def _tool(payload: Payload, store: Store | None) -> Answer:
    from aotloop.hooks.coordinator import before_start, is_start  # noqa: PLC0415
    from aotloop.hooks.pre_tool_use import decide, paths_written  # noqa: PLC0415
    from aotloop.hooks.write_targets import target  # noqa: PLC0415

    if store is not None and is_start(payload):
        return store.update(lambda loop: before_start(payload, loop))
    denied = decide(payload, None, [])
    if store is None or denied != Answer():
        return denied
    targets = [target(path, payload.cwd, store.path) for path in paths_written(payload)]
    return decide(payload, store.load(), targets, os.path.basename(store.path))


HOOKS: dict[str, Callable[[Payload, Store | None], Answer]] = {
    "SubagentStop": _stop,
    "SubagentStart": _agent_start,
    "Stop": _stop,
    "UserPromptSubmit": _prompt,
    "SessionStart": _start,
    "PreCompact": _compaction,
    "PreToolUse": _tool,
    "PostToolUse": _after_tool,
    "PostToolUseFailure": _after_tool,
}
