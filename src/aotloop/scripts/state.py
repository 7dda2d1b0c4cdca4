"""read_state, update_atom, add_binding, set_status: looking at a loop and saying what became of its atoms."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import to_builtins

from aotloop.core.graph import Graph
from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_left
from aotloop.core.side_by_side import start_now
from aotloop.core.turns import turn
from aotloop.core.units import next_in_line
from aotloop.errors import StateFileMissing
from aotloop.scripts.arguments import Option, Usage, UsageError, comma_separated
from aotloop.scripts.output import Script
from aotloop.statefile.emit import to_data
from aotloop.statefile.locate import find_state_file
from aotloop.statefile.store import Store

ATOM_STATUSES = ("pending", "in_progress", "resolved")
LOOP_STATUSES = ("running", "stopped", "completed")
SECTIONS = ("objective", "atoms", "bindings", "or_groups", "decompositions", "trail", "corrections")
CONTROL = (
    "status", "iteration", "stall_count", "prev_pending_count", "stop_requested", "stop_reason", "redirect_requested",
    "session_id", "cost_usd", "used", "verdict",
)  # fmt: skip


RECKONED = (
    "executable_atoms", "start_now", "start_now_in_place", "limits", "attempts_left", "turn", "turns", "summary",
)  # fmt: skip


def _read_state(given: dict[str, Any]) -> dict[str, Any]:
    try:
        loop = Store(find_state_file(given["state_file"])).load()
    except StateFileMissing:
        return {"exists": False, **dict.fromkeys((*CONTROL, *SECTIONS, *RECKONED))}
    graph = Graph(loop)
    ready = graph.ready()
    counts: Counter[str] = Counter(atom.status for atom in loop.atoms)
    return {
        "exists": True,
        **{name: to_data(getattr(loop.control, name)) for name in CONTROL},
        **{name: to_data(getattr(loop, name)) for name in SECTIONS},
        "executable_atoms": ready,
        "start_now": start_now(graph, ready),
        "start_now_in_place": start_now(graph, ready, shares_a_tree=True),
        "limits": to_builtins(limits_of(loop.objective.constraints)),
        "attempts_left": attempts_left(loop),
        "turn": turn(loop),
        "turns": {name: _turn_of(graph, name) for name in loop.or_groups},
        "summary": {
            "total": len(loop.atoms),
            **{status: counts[status] for status in ATOM_STATUSES},
            "executable": len(ready),
        },
    }


def _turn_of(graph: Graph, name: str) -> dict[str, Any]:
    """Whose turn it is in a group, how many failures end it, who is next, and how often all have had theirs."""
    group = graph.or_groups[name]
    selected = graph.atoms.get(group.selected)
    failed = selected.attempts if selected is not None else 0
    return {
        "selected": group.selected,
        "failures_left": max(turn(graph.loop) - failed, 1),
        "next": next_in_line(graph, name),
        "round": group.round,
    }


def _update_atom(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop import app  # noqa: PLC0415 - read_state, called most often, needs neither machine nor writer
    from aotloop.core import events  # noqa: PLC0415

    atom, status = given["atom_id"], given["status"]
    if status not in ATOM_STATUSES:
        raise UsageError(f"status cannot be {status!r}; it is one of {', '.join(ATOM_STATUSES)}")
    store = app.open_store(given["state_file"])
    result = {"success": True, "atom_id": atom, "status": status}
    if status == "resolved":
        from aotloop.session.consent import only_accepted, require_acceptance_of_checks  # noqa: PLC0415

        require_acceptance_of_checks(store, store.load(), atom)
        resolution = app.resolve_atom(store, atom, permit=only_accepted(store))
        result["auto_resolved"] = list(resolution.auto_resolved)
        if resolution.unverified:
            result["unverified"] = resolution.unverified
        return result
    started = status == "in_progress"
    app.apply(store, events.AtomStarted(atom=atom) if started else events.AtomAbandoned(atom=atom))
    return {**result, "auto_resolved": []}


def _add_binding(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop import app  # noqa: PLC0415
    from aotloop.core import events  # noqa: PLC0415

    event = events.BindingWritten(atom=given["atom_id"], summary=given["summary"], artifacts=given["artifacts"])
    app.apply(app.open_store(given["state_file"]), event)
    return {"success": True, "atom_id": event.atom, "artifacts_count": len(event.artifacts)}


def _set_status(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop import app  # noqa: PLC0415
    from aotloop.core import events  # noqa: PLC0415

    status, reason = given["status"], given["reason"]
    if status not in LOOP_STATUSES:
        raise UsageError(f"status cannot be {status!r}; it is one of {', '.join(LOOP_STATUSES)}")
    store = app.open_store(given["state_file"])
    if status == "running":
        app.start_loop(store)
    elif status == "stopped":
        app.apply(store, events.LoopStopped(reason=reason))
    else:
        from aotloop.session.consent import only_accepted  # noqa: PLC0415
        from aotloop.session.judging import judge_of  # noqa: PLC0415

        app.complete_loop(store, permit=only_accepted(store), judge=judge_of(store))
    return {"success": True, "status": status, "reason": reason}


READ_STATE = Script(Usage("The loop as it is now, and which atoms can be started."), _read_state, verdict=None)
UPDATE_ATOM = Script(Usage("Start, resolve or abandon an atom.", ("atom_id", "status")), _update_atom)
ADD_BINDING = Script(
    Usage(
        "Record what an atom's work led to.",
        ("atom_id",),
        {"--summary": Option(required=True), "--artifacts": Option(comma_separated, ())},
    ),
    _add_binding,
)
SET_STATUS = Script(
    Usage(
        "Start, stop or complete the loop; completing runs the base case.",
        ("status",),
        {"--reason": Option()},
    ),
    _set_status,
)
