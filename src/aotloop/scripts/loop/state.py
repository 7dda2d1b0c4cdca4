"""read_state: the loop as it is now. Called most often, so it loads neither machine nor writer."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import to_builtins

from aotloop.core.graph.units import next_in_line
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop
from aotloop.core.policy.turns import turn
from aotloop.core.scheduler.slots import start_now
from aotloop.errors import StateFileMissing
from aotloop.scripts.arguments import Option, Usage, UsageError
from aotloop.scripts.json_output import Script
from aotloop.statefile.locate import find_state_file, project_root
from aotloop.statefile.store import Store
from aotloop.statefile.yaml.emitter import to_data

ATOM_STATUSES = ("pending", "in_progress", "resolved")
SECTIONS = ("objective", "atoms", "bindings", "or_groups", "decompositions", "trail", "corrections")
CONTROL = (
    "status", "iteration", "stall_count", "prev_pending_count", "stop_requested", "stop_reason", "redirect_requested",
    "session_id", "cost_usd", "used", "verdict",
)  # fmt: skip


RECKONED = (
    "executable_atoms", "start_now", "start_now_in_place", "limits", "attempts_left", "turn", "turns", "summary",
)  # fmt: skip


def _read_state(given: dict[str, Any]) -> dict[str, Any]:
    if given["brief"] and given["atom"] is not None:
        raise UsageError("--brief is for a coordinator, --atom for the agent that works on the atom; name one of them")
    try:
        path = find_state_file(given["state_file"])
        loop = Store(path).load()
    except StateFileMissing:
        if given["brief"] or given["atom"] is not None:
            return {"exists": False}
        return {"exists": False, **dict.fromkeys((*CONTROL, *SECTIONS, *RECKONED))}
    if given["brief"]:
        return {"exists": True, **_brief(loop, path)}
    if given["atom"] is not None:
        from aotloop.app.session.atom_brief import atom_briefing  # noqa: PLC0415

        return {"exists": True, **atom_briefing(loop, path, given["atom"])}
    return _everything(loop)


def _brief(loop: Loop, path: str) -> dict[str, Any]:
    from aotloop.app.session.situation import briefing  # noqa: PLC0415
    from aotloop.git.head import head_commit  # noqa: PLC0415

    brief: dict[str, Any] = to_builtins(briefing(loop, head_commit(project_root(path))))
    return brief


def _everything(loop: Loop) -> dict[str, Any]:
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
    """The choice that has its turn, how many failures end it, the next choice, and how many rounds are over."""
    group = graph.or_groups[name]
    selected = graph.atoms.get(group.selected)
    failed = selected.attempts if selected is not None else 0
    return {
        "selected": group.selected,
        "failures_left": max(turn(graph.loop) - failed, 1),
        "next": next_in_line(graph, name),
        "round": group.round,
    }


READ_STATE = Script(
    Usage(
        "The loop as it is now, and which atoms can be started. --brief: only what a coordinator decides by, in at most"
        " 2 KB. --atom: all that the agent needs that works on this atom.",
        (),
        {"--brief": Option(None), "--atom": Option()},
    ),
    _read_state,
    verdict=None,
)
