"""What has to be so before a loop may run: an open gate, the agreed objective, somebody who can do the work."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from aotloop.agents import registry
from aotloop.agents.contract import Backend, Limits
from aotloop.agents.roles import Role
from aotloop.config import Config
from aotloop.core.events import SessionBound
from aotloop.core.gate import gate_of
from aotloop.core.invariants import findings_of
from aotloop.core.machine import advance
from aotloop.core.model import Loop, Objective
from aotloop.core.sessions import holding_session
from aotloop.errors import AotError, StateFileInvalid, Unavailable
from aotloop.launch.staffing import likely_agents, needed_agents, waiting_for_agents
from aotloop.runner.places import Places
from aotloop.statefile.store import Store
from aotloop.trust.objectives import agree, agreed, difference

BLOCKED = 6
"""The exit code of whatever waits for a person."""

_MOST_SHOWN = 8


def admitted(store: Store) -> Loop:
    """A loop that is running though nobody runs it crashed; it is resumed like one that was stopped."""
    loop = store.load()
    if loop.control.status == "completed":
        return loop
    waiting = loop.snapshot()
    if loop.control.status == "running":
        waiting.control = replace(loop.control, status="stopped")
    gate = gate_of(waiting, findings_of(loop))
    if not gate.ready:
        raise StateFileInvalid(
            f"{store.path}: the loop cannot start; missing: {'; '.join(gate.missing)}", hint="`aot gate` says more."
        )
    return loop


def leave_session(store: Store, loop: Loop, *, take_over: bool) -> Loop:
    """The loop in nobody's hands but ours. A session that was bound to it and has left it holds nothing any more."""
    if loop.control.session_id is None:
        return loop
    holder = holding_session(loop.control)
    if holder is not None and not take_over:
        raise Unavailable(
            f"the session {holder} drives this loop",
            hint="Leave it there with `/aot-loop:exit-recursion`; or `aot run --take-over` takes it from that session.",
        )
    store.update(lambda now: advance(now, SessionBound(session_id=None, take_over=take_over)))
    return store.load()


def require_agreement(store: Store, loop: Loop) -> None:
    """What was agreed on stays agreed on, until a person says otherwise; a loop that never ran can be edited freely."""
    before = agreed(store.path)
    if before is not None and loop.control.status != "pending" and difference(before, loop.objective):
        raise blocked(before, loop.objective)
    with suppress(Unavailable):  # a home that cannot be written to costs the memory, not the run
        agree(store.path, loop.objective)


def blocked(before: Objective, objective: Objective) -> AotError:
    hint = "`aot redirect --accept` takes it; or change it back."
    return AotError(behind_its_back(before, objective), hint=hint, exit_code=BLOCKED)


def behind_its_back(before: Objective, objective: Objective) -> str:
    lines = difference(before, objective)
    shown = "; ".join(lines[:_MOST_SHOWN]) + (" …" if len(lines) > _MOST_SHOWN else "")
    return f"the objective was changed behind the loop's back: {shown}"


def refuse_without_agents(loop: Loop, config: Config) -> None:
    """Rather now than in the middle of the night. Repairs, which come later, may find nobody."""
    nobody = [atom.id for atom in waiting_for_agents(loop) if (atom.agent or config.agent_of("worker")) is None]
    if nobody:
        named = ", ".join(nobody[:_MOST_SHOWN]) + (" …" if len(nobody) > _MOST_SHOWN else "")
        out = f"; `aot redirect --remove {nobody[0]}` takes one out" if loop.control.status == "stopped" else ""
        raise StateFileInvalid(
            f"there is no agent to do: {named}",
            hint=f"Name one with --agent or in aot.toml, or give these atoms a command: `run`{out}.",
        )
    for name in likely_agents(loop, config):
        hire(config, name)
    for name in needed_agents(loop, config):
        _refuse_missing(config, name)


def _refuse_missing(config: Config, name: str) -> None:
    """Unless another one, which is there, is asked in its place."""
    presences = [hire(config, one)[0].look() for one in config.chain(name)]
    if all(one.is_missing for one in presences):
        raise Unavailable(f"the agent {name} cannot be started: {presences[0].problem}", hint=presences[0].remedy)


def hire(config: Config, name: str, role: Role | None = None) -> tuple[Backend, Limits]:
    kind, settings, limits = config.agent_settings(name, role)
    return registry.backend(kind, settings), limits


def refuse_other_history(loop: Loop, places: Places) -> None:
    last, branch = loop.control.last_sha, places.branch
    if last is not None and branch is not None and loop.control.status != "pending" and not branch.contains(last):
        raise Unavailable(
            f"what is checked out ({branch.name or 'no branch'}) does not contain what was done so far ({last[:12]})",
            hint="Check out the branch the loop worked on, or set `control.last_sha` aside if it is gone for good.",
            exit_code=BLOCKED,
        )
