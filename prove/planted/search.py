"""Faults of what a failure leads to: turns, patience, hints and rounds."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.graph import units
from aotloop.core.handlers import atoms, backtracking, blame, failure
from aotloop.core.policy import progress, stop_reasons, turns
from aotloop.core.scheduler import finish, outcomes, reports
from aotloop.core.scheduler.run_state import Run
from prove.planted.fault import (
    GROWING,
    HINDERED,
    HINTS,
    HOLDING,
    HOPELESS,
    LEARNING,
    PATIENT,
    PLAIN,
    PROBE,
    SINGLE,
    TRUSTING,
    Fault,
    Patch,
    handler,
    no,
    none,
    nothing,
    yes,
)
from prove.worlds import HINTED

_FAIL, _SCORE, _NEXT, _HEED, _GIVEN_UP = (
    failure.fail,
    units.score,
    failure._next_turn,
    blame.heed_hints,
    backtracking.given_up,
)
_LEAVE, _ROUND, _PROMISING = backtracking.leave, backtracking.begin_round, units.is_promising


def count_no_failure(board: Any, event: Any, **kwargs: Any) -> Any:
    before = board.atoms[event.atom].failures
    effects = _FAIL(board, event, **kwargs)
    if event.atom in board.atoms and board.atoms[event.atom].failures > before:
        board.put(replace(board.atoms[event.atom], failures=before))
    return effects


def forget_progress(board: Any, event: Any, **kwargs: Any) -> Any:
    return _FAIL(board, replace(event, progress=False), **kwargs)


def wait_is_failure(run: Run, report: Any) -> Any:
    attempt = run.take_off(report.attempt)
    return outcomes.fail(run, attempt, report.reason, report.at) if attempt is not None else []


def scored(mutant: Any) -> tuple[Patch, ...]:
    return (failure, "score", mutant), (blame, "score", mutant)


def without_blames(graph: Any, name: str, choice: str) -> Any:
    is_later, _, place = _SCORE(graph, name, choice)
    return is_later, graph.atoms[choice].failures, place


def most_failed_first(graph: Any, _: str, choice: str) -> Any:
    return -graph.atoms[choice].failures


def the_same_again(board: Any, event: Any) -> Any:
    return _NEXT(board, replace(event, final=False))


def count_won_alone(loop: Any, atom: Any) -> None:
    if atom.repairs is None:
        loop.control = replace(loop.control, won=loop.control.won + 1)


def count_repairs_won(loop: Any, atom: Any) -> None:
    progress.count_won(loop, replace(atom, repairs=None))


def without_choices(graph: Any, atom_id: str) -> bool:
    return bool(units.failures_of_unit(graph, atom_id) >= turns.patience(graph.loop))


def heed_at_once(board: Any, event: Any) -> Any:
    return _HEED(board, event) or _HEED(board, event)


def by_failures_alone(board: Any, failing: str, *_: Any) -> bool:
    return bool(units.failures_of_unit(board, failing) >= turns.HINT * turns.usual(board.loop))


def each_alone(graph: Any, atom_id: str, _: float = 1) -> bool:
    choices = units.choices_of(graph, atom_id)
    return all(graph.atoms[one].alike >= turns.HOPELESS * turns.bad_luck(graph.loop) for one in choices)


def only_the_same_speaks(board: Any, event: Any) -> Any:
    for name, group in list(board.loop.or_groups.items()):
        if event.atom not in group.hints.get(group.selected, (event.atom,)):
            board.put_group(name, replace(group, hints={}))
    return _HEED(board, event)


def keep_hints(group: Any, choice: str, others: Any, *, for_good: bool) -> Any:
    return replace(_GIVEN_UP(group, choice, others, for_good=for_good), hints=group.hints)


def blame_nobody(board: Any, event: Any, **kwargs: Any) -> Any:
    return _LEAVE(board, event, **{**kwargs, "is_blamed": False})


def keep_attempts_of_round(board: Any, name: str) -> None:
    group = board.loop.or_groups[name]
    board.put_group(name, replace(group, round=group.round + 1, blamed={}))


def promising_for_ever(graph: Any, choice: str) -> bool:
    return bool(graph.atoms[choice].partial)


FAULTS = (
    Fault("Failures", "failures are not recorded", ((failure, "_record", none),), (SINGLE,)),
    Fault("Failures", "failures are not counted", ((atoms, "fail", count_no_failure),), (PLAIN,)),
    Fault("Failures", "a wait counts as a failure", (handler(reports.MustWait, wait_is_failure),), (HINDERED,)),
    Fault(
        "Failures",
        "a refused proposal costs nothing",
        ((outcomes, "_decompose", lambda run, attempt, *_: run.advance(events.AtomAbandoned(atom=attempt.atom))),),
        (GROWING,),
    ),
    Fault("Failures", "work that holds is forgotten", ((atoms, "fail", forget_progress),), (HOLDING,)),
    Fault("Turns", "a turn never ends", ((failure, "_is_turn_over", no),), (SINGLE,)),
    Fault("Turns", "a turn ends with the first failure", ((failure, "_is_turn_over", yes),), (LEARNING,)),
    Fault("Turns", "a turn is longer than allowed", ((failure, "turn", lambda _: 3),), (SINGLE, LEARNING)),
    Fault("Turns", "what failed most is next", scored(most_failed_first), (PATIENT,)),
    Fault(
        "Turns",
        "the first in the file is always next",
        scored(lambda g, n, c: (False, 0, g.or_groups[n].choices.index(c))),
        (PATIENT,),
    ),
    Fault("Turns", "a blame makes no difference", scored(without_blames), (SINGLE, PATIENT)),
    Fault(
        "Turns",
        "work that holds does not come first",
        ((units, "is_promising", no), (failure, "is_promising", no)),
        (HOLDING,),
    ),
    Fault(
        "Turns",
        "work that holds comes first for ever",
        ((units, "is_promising", promising_for_ever), (failure, "is_promising", promising_for_ever)),
        (HOLDING,),
    ),
    Fault(
        "Turns", "a command that failed has the next turn, too", ((failure, "_next_turn", the_same_again),), (PROBE,)
    ),
    Fault("Turns", "what successes needed is not counted", ((atoms, "count_won", count_won_alone),), (SINGLE,)),
    Fault("Turns", "what repairs needed is counted", ((atoms, "count_won", count_repairs_won),), (SINGLE,)),
    Fault("Patience", "there is none", ((failure, "is_out_of_patience", yes),), (PATIENT,)),
    Fault("Patience", "it has no end", ((failure, "is_out_of_patience", no),), (SINGLE,)),
    Fault(
        "Patience",
        "each choice has as much as all",
        ((failure, "is_out_of_patience", without_choices),),
        (PATIENT,),
        two_groups=True,
    ),
    Fault("Patience", "repairs have none", ((failure, "patience", lambda _: 1),), (PATIENT,)),
    Fault("Hints", "a hint counts at once", ((failure, "heed_hints", heed_at_once),), (HINTS,)),
    Fault("Hints", "a hint never counts", ((failure, "heed_hints", nothing),), (HINTS,)),
    Fault("Hints", "the first hint never counts", ((blame, "_is_credible", no),), (TRUSTING,)),
    Fault("Hints", "the first hint always counts", ((blame, "_is_credible", yes),), (HINTS,)),
    Fault("Hints", "blames say nothing against a hint", ((blame, "_is_credible", by_failures_alone),), (TRUSTING,)),
    Fault(
        "Hints", "hints of different atoms are not added up", ((failure, "heed_hints", only_the_same_speaks),), (HINTS,)
    ),
    Fault(
        "Hints",
        "old hints count against a choice that came back",
        ((backtracking, "given_up", keep_hints),),
        (HINTS,),
        with_groups=True,
        smallest=3,
    ),
    Fault(
        "Hints",
        "a choice that came back never meets an alternative",
        ((blame, "_has_own_way", no),),
        (HINTED,),
        worlds=True,
        smallest=4,
        two_groups=True,
    ),
    Fault("Rounds", "no other round begins", ((backtracking, "begin_round", none),), (SINGLE,)),
    Fault("Rounds", "groups are not reopened", ((blame, "begin_round", none),), (SINGLE,)),
    Fault(
        "Rounds", "another round forgets nothing", ((backtracking, "begin_round", keep_attempts_of_round),), (SINGLE,)
    ),
    Fault(
        "Rounds",
        "a round is not counted",
        ((backtracking, "begin_round", lambda b, n: b.put_group(n, replace(b.or_groups[n], failed=(), blamed={}))),),
        (SINGLE,),
    ),
    Fault("Rounds", "blames are not counted", ((blame, "leave", blame_nobody),), (SINGLE,)),
    Fault("Giving up", "what is hopeless is not said", ((finish, "hopeless", none),), (HOPELESS,)),
    Fault(
        "Giving up",
        "one failure is hopeless",
        ((finish, "hopeless", lambda _, one: f"{one} failed in the same way"),),
        (HOPELESS,),
    ),
    Fault(
        "Giving up",
        "each choice has to fail as often as a unit",
        ((stop_reasons, "is_hopeless", each_alone),),
        (HOPELESS,),
    ),
    Fault(
        "Giving up",
        "failures that differ are the same",
        ((failure, "_is_as_before", yes),),
        (HOPELESS,),
    ),
)
