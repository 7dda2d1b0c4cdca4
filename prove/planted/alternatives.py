"""Faults of how a choice is left, of races, and of probes."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Backtracked
from aotloop.core.graph import conflict_set
from aotloop.core.graph import conflict_set as group_order
from aotloop.core.handlers import atoms, backtracking, blame, failure, probes
from aotloop.core.scheduler import decisions, slots
from prove.planted.fault import (
    ASKING,
    COVERED,
    LEARNING,
    PAYING,
    PLAIN,
    PROBE,
    RACE,
    SINGLE,
    Fault,
    Patch,
    handler,
    no,
    none,
    nothing,
    yes,
)
from prove.shapes import Setting

_RESET, _LEAVE, _PROBE, _FAIL, _START = (
    backtracking._reset,
    backtracking.leave,
    atoms.probe,
    failure.fail,
    slots._start,
)


def leaving(mutant: Any) -> tuple[Patch, ...]:
    return (failure, "leave", mutant), (blame, "leave", mutant)


def reset_all(board: Any, _: Any, *, keeping: Any) -> Any:
    return _RESET(board, set(board.atoms), keeping=keeping)


def reset_left_only(board: Any, atom_ids: Any, *, keeping: Any) -> Any:
    return _RESET(board, {one for one in atom_ids if one in keeping}, keeping=keeping)


def keep_failures(board: Any, atom_ids: Any, *, keeping: Any) -> Any:
    del keeping
    return _RESET(board, atom_ids, keeping=set(board.atoms))


def forget_own_failures(board: Any, atom_ids: Any, *, keeping: Any) -> Any:
    del keeping
    return _RESET(board, atom_ids, keeping=set())


def blame_always(group: Any, choice: str, others: Any, *, for_good: bool) -> Any:
    del for_good
    return replace(group, blamed={**group.blamed, choice: others})


def leave_no_trail(board: Any, event: Any, **kwargs: Any) -> Any:
    effects = _LEAVE(board, event, **kwargs)
    board.loop.trail[:] = [entry for entry in board.loop.trail if entry.type != "selection"]
    return effects


def undo_nothing(board: Any, event: Any, **kwargs: Any) -> Any:
    return [replace(one, undone=()) if isinstance(one, Backtracked) else one for one in _LEAVE(board, event, **kwargs)]


def earliest_first(graph: Any, conflict: Any, ways: Any = None) -> Any:
    left = {name: conflict_set.untried(graph, graph.or_groups[name]) for name in conflict} | dict(ways or {})
    order = group_order.group_order(graph)
    possible = [name for name in conflict if left[name]]
    return (min(possible, key=lambda name: order[name]), set(conflict)) if possible else None


def feasible_anyway(board: Any, event: Any) -> Any:
    return _PROBE(board, replace(event, feasible=True))


def count_once(board: Any, event: Any, *, counts_for: int = 1) -> Any:
    del counts_for
    return _FAIL(board, event)


def ask_in_vain(board: Any, event: Any, **kwargs: Any) -> Any:
    return _FAIL(board, replace(event, wants_probe=False), **kwargs)


def ask_again(board: Any, event: Any, **kwargs: Any) -> Any:
    return _FAIL(board, replace(event, wants_probe=event.wants_probe or board.atoms[event.atom].probe), **kwargs)


def start_as_worker(run: Any, atom_id: str) -> Any:
    effect = _START(run, atom_id)
    run.attempts[effect.attempt] = replace(run.attempts[effect.attempt], role="worker")  # type: ignore[attr-defined]
    return replace(effect, role="worker")


def forget_findings(board: Any, event: Any) -> Any:
    return _PROBE(board, replace(event, findings=""))


FAULTS = (
    Fault("Backtracking", "everything is reset", ((backtracking, "_reset", reset_all),), (SINGLE,)),
    Fault(
        "Backtracking",
        "what was built on the left choice is kept",
        ((backtracking, "_reset", reset_left_only),),
        (SINGLE,),
    ),
    Fault(
        "Backtracking",
        "failures count against what rests on something else now",
        ((backtracking, "_reset", keep_failures),),
        (SINGLE,),
    ),
    Fault(
        "Backtracking",
        "a choice that is left has not failed",
        ((backtracking, "_reset", forget_own_failures),),
        (SINGLE,),
    ),
    Fault(
        "Backtracking",
        "a choice that failed itself is only blamed",
        ((backtracking, "given_up", blame_always),),
        (SINGLE,),
    ),
    Fault("Backtracking", "switches are not in the trail", leaving(leave_no_trail), (SINGLE,)),
    Fault(
        "Backtracking",
        "blamed choices are never freed",
        ((backtracking, "_free_after_switch", none), (blame, "begin_round", none)),
        (),
        worlds=True,
        smallest=4,
    ),
    Fault(
        "Backtracking",
        "the earliest group switches, and none is reopened",
        ((blame, "group_to_switch", earliest_first), (blame, "begin_round", none)),
        (),
        worlds=True,
        smallest=4,
    ),
    Fault("Backtracking", "merged work of the left choice stays", leaving(undo_nothing), (SINGLE,)),
    Fault(
        "Backtracking",
        "work that was to be done better stays",
        ((backtracking, "has_contributed", lambda atom: atom.status == "resolved"),),
        (COVERED,),
    ),
    Fault(
        "Backtracking",
        "the new choice starts before the old is reverted",
        ((slots, "_is_reverting", no),),
        (SINGLE,),
    ),
    Fault("Backtracking", "repairs of the left choice are kept", ((backtracking, "repairs_of", nothing),), (PLAIN,)),
    Fault("Speculative", "the losers of a race run on", ((decisions, "_is_of_use", yes),), (RACE,)),
    Fault("Speculative", "a losing racer is taken for the winner", ((atoms, "_settle_race", none),), (RACE,)),
    Fault("Probes", "a no of a probe says nothing", (handler(events.AtomProbed, feasible_anyway),), (PROBE,)),
    Fault(
        "Probes",
        "a no of a probe counts as one failure",
        ((atoms, "fail", count_once),),
        (Setting(probe=True, is_experienced=False, max_attempts=2),),
    ),
    Fault("Probes", "findings are forgotten", (handler(events.AtomProbed, forget_findings),), (PROBE,)),
    Fault("Probes", "a probe that was asked for is not made", ((atoms, "fail", ask_in_vain),), (ASKING,)),
    Fault(
        "Probes",
        "a probe without an answer is made again",
        ((atoms, "fail", ask_again),),
        (Setting(probe=True, garbage=True),),
    ),
    Fault("Probes", "unknown territory is entered without a probe", ((slots, "_start", start_as_worker),), (PROBE,)),
    Fault("Probes", "probes are bought at any price", ((probes, "probing_pays", yes),), (SINGLE, LEARNING)),
    Fault("Probes", "probes that pay are not bought", ((backtracking, "probe_if_it_pays", none),), (PAYING,)),
)
