"""Faults of what starts, how long a generation lasts, and what counts as progress."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.graph import readiness
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers import atoms, backtracking, generations, growth
from aotloop.core.policy import progress
from aotloop.core.scheduler import decisions, finish, slots, verification_schedule
from aotloop.core.scheduler import outcomes as attempts
from aotloop.core.scheduler.run_state import Run
from prove.planted.fault import (
    GROWING,
    LEARNING,
    PLAIN,
    PROBE,
    RACE,
    SINGLE,
    TOUCHING,
    Fault,
    handler,
    no,
    none,
    nothing,
    yes,
)

_RANK, _DECOMPOSE, _END, _COUNT = Graph.rank, growth.decompose, generations.end_generation, progress.count_attempt


def fail_without_holding(run: Run, attempt: Any, reason: str, at: str, **told: Any) -> Any:
    return run.advance(events.AtomFailed(atom=attempt.atom, reason=reason, at=at, **told))


def rank_with(change: Any) -> Any:
    return lambda graph, one: change(*_RANK(graph, one))


def forget_members(run: Run, at: str) -> Any:
    if run.is_open and run.loop.control.generation.outcomes:
        run.is_open, run.members = False, set()
        return run.advance(events.GenerationEnded(at=at))
    return []


def count_repairs_too(loop: Any, _: Any) -> None:
    progress.something_got_smaller(loop)


def growth_is_progress(board: Any, event: Any) -> Any:
    effects = _DECOMPOSE(board, event)
    progress.something_got_smaller(board.loop)
    return effects


def no_stall(board: Any, event: Any) -> Any:
    effects = _END(board, event)
    board.loop.control = replace(board.loop.control, stall_count=0)
    return effects


def count_no_outcome(loop: Any) -> None:
    outcomes = loop.control.generation.outcomes
    _COUNT(loop)
    loop.control = replace(loop.control, generation=replace(loop.control.generation, outcomes=max(outcomes, 1)))


def always_new(board: Any, *_: Any) -> None:
    progress.something_got_smaller(board.loop)


FAULTS = (
    Fault("Required", "unselected choices are required too", ((Graph, "is_unselected", no),), (SINGLE,)),
    Fault(
        "Ready",
        "dependencies are not waited for",
        ((Graph, "waits_for", nothing), (readiness.Standing, "units_needed", lambda *_: set())),
        (SINGLE,),
    ),
    Fault("Ready", "a repair is tried for ever", ((Graph, "is_exhausted", no),), (SINGLE,)),
    Fault(
        "Ready",
        "of a race only the selected choice starts",
        ((slots, "is_startable", lambda run, one: not run.board.is_unselected(one)),),
        (RACE,),
    ),
    Fault(
        "Ready",
        "what failed comes before what was never tried",
        ((Graph, "rank", rank_with(lambda tried, *rest: (not tried, *rest))),),
        (PLAIN,),
    ),
    Fault(
        "Ready",
        "the longest way is not looked at",
        ((Graph, "rank", rank_with(lambda tried, path, *rest: (tried, -path, *rest))),),
        (SINGLE,),
    ),
    Fault(
        "Ready",
        "what failed most comes first",
        (
            (
                Graph,
                "rank",
                rank_with(lambda tried, path, users, failures, place: (tried, path, users, -failures, place)),
            ),
        ),
        (PLAIN,),
    ),
    Fault(
        "Startable",
        "a command is repeated though nothing has moved",
        ((attempts, "fail", fail_without_holding),),
        (PROBE,),
    ),
    Fault("Startable", "what changes the same files runs at once", ((slots, "_touch", no),), (TOUCHING,)),
    Fault(
        "Slots",
        "one slot too many",
        ((slots, "slots", lambda run: run.loop.objective.constraints.max_parallel_agents + 1),),
        (PLAIN,),
    ),
    Fault(
        "Slots",
        "nothing starts while something runs",
        ((slots, "slots", lambda run: 0 if run.attempts else 2),),
        (PLAIN,),
    ),
    Fault(
        "Generations",
        "a generation ends with its first report",
        ((decisions, "close_generation", forget_members),),
        (PLAIN,),
    ),
    Fault(
        "Generations",
        "iterations are not limited",
        ((slots, "_another_may_start", yes), (finish, "over_limit", none)),
        (SINGLE,),
    ),
    Fault("Generations", "a generation is one wave", ((verification_schedule, "lasts", no),), (SINGLE,)),
    Fault(
        "Generations",
        "alternatives do not make a generation longer",
        ((generations, "least_outcomes", lambda _, unresolved: len(unresolved)),),
        (LEARNING,),
    ),
    Fault(
        "Generations",
        "only one attempt of a generation counts",
        ((atoms, "count_attempt", count_no_outcome),),
        (PLAIN,),
    ),
    Fault("Progress and stall", "nothing is a stall", (handler(events.GenerationEnded, no_stall),), (PLAIN,)),
    Fault(
        "Progress and stall",
        "resolving repairs is progress",
        ((atoms, "count_resolved", count_repairs_too),),
        (PLAIN,),
        with_groups=True,
        smallest=3,
    ),
    Fault(
        "Progress and stall",
        "growth is progress",
        (handler(events.AtomDecomposed, growth_is_progress),),
        (GROWING,),
    ),
    Fault("Progress and stall", "stalls do not end the loop", ((finish, "stalled", none),), (SINGLE,)),
    Fault(
        "Progress and stall", "growth is never withdrawn", ((generations, "withdraw", nothing),), (GROWING,), largest=2
    ),
    Fault(
        "Progress and stall",
        "whatever is resolved is progress",
        ((generations, "_got_smaller", lambda board: board.loop.control.generation.resolved > 0),),
        (SINGLE, PLAIN),
    ),
    Fault(
        "Progress and stall",
        "a choice that is new is no progress",
        ((backtracking, "something_got_smaller", none),),
        (SINGLE,),
    ),
    Fault(
        "Progress and stall",
        "a choice that is taken again is progress",
        ((backtracking, "note_selected", always_new),),
        (SINGLE,),
    ),
    Fault(
        "Progress and stall",
        "it stalls though bad luck explains it",
        ((generations, "_bad_luck_explains_it", no),),
        (PLAIN, SINGLE),
    ),
)
