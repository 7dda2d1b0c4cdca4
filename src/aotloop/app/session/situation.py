"""What a coordinator has to know now, and nothing else: the situation, what may start, what failed last, the limits.

A coordinator asks again and again, and all that it was told stays in its context. So the answer has at most LARGEST
bytes, however large the loop is. Results of atoms are in no briefing: the agent that builds on them asks for them.

| situation | it means                                                                            |
| --------- | ----------------------------------------------------------------------------------- |
| `over`    | the loop does not run, or the person wants to stop or redirect it                   |
| `start`   | `start` has atoms that may start now, beside what runs                              |
| `check`   | all parts of the atoms in `check` are resolved; their own check is missing          |
| `wait`    | nothing can start before one of `in_progress` has ended                             |
| `verify`  | nothing can start, and nothing runs: the base case decides                          |
| `end`     | it was verified at this commit: the hook decides what follows                       |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from aotloop.core.graph.units import parts_done
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_left
from aotloop.core.model import Atom, Loop
from aotloop.core.objective import fresh_verdict
from aotloop.core.scheduler.slots import start_now
from aotloop.text.shorten import short_line

LARGEST = 2000
"""Bytes, as JSON."""

MOST_SHOWN = 8
MOST_FAILURES = 3
_LONGEST = 90
_SHARE = {"start": 900, "check": 150, "in_progress": 250, "start_in_place": 150}
"""Bytes for each list. At least one entry is shown."""

Situation = Literal["over", "start", "check", "wait", "verify", "end"]


class Startable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    what: str
    agent: Literal["worker", "probe"]
    failures: int = 0
    note: str = ""


class Briefing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    situation: Situation
    status: str
    unresolved: int
    start: tuple[Startable, ...] = ()
    start_in_place: tuple[str, ...] | None = None
    """Where workers share one tree; None: all of `start`."""
    check: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    not_shown: int = 0
    failed_last: tuple[str, ...] = ()
    limits: dict[str, Any] = {}
    verify_each_iteration: bool = False


def briefing(loop: Loop, commit: str | None) -> Briefing:
    graph = Graph(loop)
    ready = graph.ready()
    start, in_place = start_now(graph, ready), start_now(graph, ready, shares_a_tree=True)
    in_progress = [atom.id for atom in loop.atoms if atom.status == "in_progress"]
    check = parts_done(graph)
    shown = _within(_SHARE["start"], (_startable(graph.atoms[atom_id]) for atom_id in start))
    shown_in_progress = _within(_SHARE["in_progress"], in_progress)
    return Briefing(
        situation=_situation(loop, commit, start, check, in_progress),
        status=loop.control.status,
        unresolved=len(graph.unresolved()),
        start=shown,
        start_in_place=None if in_place == start else _within(_SHARE["start_in_place"], in_place),
        check=_within(_SHARE["check"], check),
        in_progress=shown_in_progress,
        not_shown=len(start) - len(shown) + len(in_progress) - len(shown_in_progress),
        failed_last=_failed_last(loop),
        limits=_limits(loop),
        verify_each_iteration=loop.objective.constraints.verify_each_iteration,
    )


def startable(loop: Loop) -> dict[str, str]:
    """Which atoms may start now, and by which agent: for a coordinator that has just integrated a result."""
    if loop.control.status != "running" or loop.control.stop_requested or loop.control.redirect_requested:
        return {}
    graph = Graph(loop)
    start = start_now(graph, graph.ready())[:MOST_SHOWN]
    return {atom_id: "probe" if graph.atoms[atom_id].probe else "worker" for atom_id in start}


def _situation(
    loop: Loop, commit: str | None, start: list[str], check: tuple[str, ...], in_progress: list[str]
) -> Situation:
    control = loop.control
    if control.status != "running" or control.stop_requested or control.redirect_requested:
        return "over"
    if start:
        return "start"
    if check:
        return "check"
    if in_progress:
        return "wait"
    return "verify" if fresh_verdict(loop, commit) is None else "end"


def _startable(atom: Atom) -> Startable:
    notes = []
    if atom.partial:
        notes.append("part of its work holds")
    if atom.run is not None and atom.failures:
        notes.append("a command that failed: start it only if something that it needs has changed")
    return Startable(
        id=atom.id,
        what=short_line(atom.description, _LONGEST),
        agent="probe" if atom.probe else "worker",
        failures=atom.failures,
        note="; ".join(notes),
    )


def _failed_last(loop: Loop) -> tuple[str, ...]:
    gone = {entry.atom for entry in loop.trail} - {atom.id for atom in loop.atoms} - {None}
    failures = [entry for entry in reversed(loop.trail) if entry.type == "failure" and entry.atom not in gone]
    reasons = (f"{entry.atom or entry.or_group}: {entry.reason}" for entry in failures[:MOST_FAILURES])
    return tuple(short_line(line, _LONGEST) for line in reasons)


def _limits(loop: Loop) -> dict[str, Any]:
    limits, control = limits_of(loop.objective.constraints), loop.control
    return {
        "attempts_left": attempts_left(loop),
        "iteration": f"{control.iteration} of {limits.max_iterations}",
        "stalls": f"{control.stall_count} of {limits.max_stall_count}",
        "agents_at_once": limits.max_parallel_agents,
    }


def _within(most: int, entries: Iterable[Any]) -> tuple[Any, ...]:
    """The first entries that fit into so many bytes; at least one."""
    taken: list[Any] = []
    for entry in entries:
        most -= len(msgspec.json.encode(entry)) + 1
        if taken and (most < 0 or len(taken) == MOST_SHOWN):
            break
        taken.append(entry)
    return tuple(taken)
