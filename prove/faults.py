"""Faults planted in the machine, one or more for every paragraph of its guarantees: the checker has to find each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import msgspec

from aotloop.core import atoms, events, failure, generations, growth, parents, standing, surrender
from aotloop.core.conduct import attempts, checking, conductor, ending, merging, reports, starting
from aotloop.core.conduct.run import Run
from aotloop.core.graph import Graph
from prove.laws import starting as laws_of_starting
from prove.mutants import (
    begun,
    believe,
    blame_always,
    cancel_nothing,
    complete_anyway,
    count_no_attempt,
    count_repairs_too,
    dearest,
    earliest_first,
    every_round_is_the_first,
    fail_without_holding,
    feasible_anyway,
    forget_members,
    forget_results,
    growth_is_progress,
    handler,
    keep_attempts,
    leave_no_trail,
    limits_first,
    merge_at_any_time,
    no,
    no_stall,
    none,
    nothing,
    parts_without_dependencies,
    redirect_in_the_same_epoch,
    reset_all,
    reset_left_only,
    resolve_at_once,
    skip_the_check,
    start_as_worker,
    tell_everything,
    undo_nothing,
    wait_is_failure,
    yes,
)
from prove.shapes import Setting

Patch = tuple[Any, str, Any]


class Fault(msgspec.Struct, frozen=True):
    paragraph: str
    name: str
    patches: tuple[Patch, ...]
    settings: tuple[Setting, ...]
    worlds: bool = False
    """Only visible in what the loop finds in the end."""

    @contextmanager
    def planted(self) -> Iterator[None]:
        with ExitStack() as stack:
            for owner, attribute, mutant in self.patches:
                stack.enter_context(patch.object(owner, attribute, mutant))
            yield


PLAIN = Setting(slots=2, max_attempts=2, max_stall=3, max_iterations=6)
SINGLE = Setting()
PEOPLE = Setting(slots=2, people=True)
RACE = Setting(slots=2, speculative=True)
PROBE = Setting(slots=2, probe=True, command=True, max_attempts=2)
TOUCHING = Setting(slots=2, touching=True)
HINDERED = Setting(slots=2, hindrances=True)
GROWING = Setting(proposals=True, max_iterations=5, max_stall=3)
CHECKED = Setting(slots=2, checked=True, max_attempts=2)
EARLY = Setting(slots=2, items=2, verify_each_iteration=True, max_iterations=3)


FAULTS = (
    Fault("Required", "unselected choices are required too", ((Graph, "is_unselected", no),), (SINGLE,)),
    Fault(
        "Ready",
        "dependencies are not waited for",
        ((Graph, "waits_for", nothing), (standing.Standing, "units_needed", lambda *_: set())),
        (SINGLE,),
    ),
    Fault("Ready", "what has failed for good is tried again", ((Graph, "is_exhausted", no),), (SINGLE,)),
    Fault(
        "Ready",
        "of a race only the selected choice starts",
        ((starting, "is_startable", lambda run, one: not run.board.is_unselected(one)),),
        (RACE,),
    ),
    Fault(
        "Startable",
        "a command is repeated though nothing has moved",
        ((attempts, "fail", fail_without_holding),),
        (PROBE,),
    ),
    Fault("Startable", "what changes the same files runs at once", ((starting, "_touch", no),), (TOUCHING,)),
    Fault(
        "Slots",
        "one slot too many",
        ((starting, "slots", lambda run: run.loop.objective.constraints.max_parallel_agents + 1),),
        (PLAIN,),
    ),
    Fault(
        "Slots",
        "nothing starts while something runs",
        ((starting, "slots", lambda run: 0 if run.attempts else 2),),
        (PLAIN,),
    ),
    Fault(
        "Generations",
        "a generation ends with its first report",
        ((conductor, "close_generation", forget_members),),
        (PLAIN,),
    ),
    Fault(
        "Generations",
        "iterations are not limited",
        ((starting, "_another_generation_is_allowed", yes), (ending, "over_limit", none)),
        (SINGLE,),
    ),
    Fault(
        "Progress and stall",
        "nothing is a stall",
        (handler(events.GenerationEnded, no_stall),),
        (PLAIN,),
    ),
    Fault(
        "Progress and stall",
        "resolving repairs is progress",
        ((atoms, "count_resolved", count_repairs_too),),
        (PLAIN,),
    ),
    Fault(
        "Progress and stall",
        "growth is progress",
        (handler(events.AtomDecomposed, growth_is_progress),),
        (GROWING,),
    ),
    Fault(
        "Progress and stall",
        "a stall does not change the strategy",
        ((generations, "give_up_what_stalls", nothing),),
        (PLAIN, SINGLE),
    ),
    Fault("Progress and stall", "stalls do not end the loop", ((ending, "stalled", none),), (SINGLE,)),
    Fault("Progress and stall", "growth is never withdrawn", ((generations, "withdraw", nothing),), (GROWING,)),
    Fault("Failure ladder", "failures are not recorded", ((failure, "_record", none),), (SINGLE,)),
    Fault("Failure ladder", "attempts are not counted", ((atoms, "fail", count_no_attempt),), (PLAIN,)),
    Fault(
        "Failure ladder",
        "a wait counts as a failure",
        (handler(reports.MustWait, wait_is_failure),),
        (HINDERED,),
    ),
    Fault(
        "Failure ladder",
        "a refused proposal costs nothing",
        ((attempts, "_decompose", lambda run, attempt, *_: run.advance(events.AtomAbandoned(atom=attempt.atom))),),
        (GROWING,),
    ),
    Fault("Backtracking", "everything is reset", ((failure, "_reset", reset_all),), (SINGLE,)),
    Fault(
        "Backtracking",
        "what was built on the left choice is kept",
        ((failure, "_reset", reset_left_only),),
        (SINGLE,),
    ),
    Fault("Backtracking", "spent attempts stay spent", ((failure, "_reset", keep_attempts),), (PLAIN,)),
    Fault(
        "Backtracking",
        "a choice that failed itself is only blamed",
        ((failure, "leave", blame_always),),
        (SINGLE,),
    ),
    Fault(
        "Backtracking",
        "switches are not in the trail",
        ((failure, "leave", leave_no_trail), (surrender, "leave", leave_no_trail)),
        (SINGLE,),
    ),
    Fault(
        "Backtracking",
        "blamed choices are never freed",
        ((failure, "free_after_switch", none),),
        (),
        worlds=True,
    ),
    Fault(
        "Backtracking",
        "the earliest group switches first",
        (
            (failure, "group_to_switch", earliest_first),
            (surrender, "group_to_switch", earliest_first),
        ),
        (),
        worlds=True,
    ),
    Fault(
        "Backtracking",
        "merged work of the left choice stays",
        ((failure, "leave", undo_nothing), (surrender, "leave", undo_nothing)),
        (SINGLE,),
    ),
    Fault(
        "Backtracking",
        "the new choice starts before the old is reverted",
        ((starting, "_is_reverting", no),),
        (SINGLE,),
    ),
    Fault("Backtracking", "repairs of the left choice are kept", ((failure, "repairs_of", nothing),), (PLAIN,)),
    Fault("Speculative", "the losers of a race run on", ((conductor, "_is_of_use", yes),), (RACE,)),
    Fault("Speculative", "a losing racer is taken for the winner", ((atoms, "_settle_race", none),), (RACE,)),
    Fault(
        "Probes",
        "an infeasible choice is tried all the same",
        (handler(events.AtomProbed, feasible_anyway),),
        (PROBE, SINGLE),
    ),
    Fault("Probes", "alternatives are not weighed", ((failure, "_worth_weighing", lambda *_: ()),), (SINGLE,)),
    Fault("Probes", "the dearest alternative is taken", ((failure, "cheapest", dearest),), (SINGLE,)),
    Fault(
        "Probes",
        "unknown territory is entered without a probe",
        ((starting, "_start", lambda run, one, weighs_for=None: start_as_worker(run, one, weighs_for)),),
        (PROBE,),
    ),
    Fault("Decomposition", "depth is not limited", ((Graph, "depth", lambda *_: 0),), (GROWING,)),
    Fault(
        "Decomposition",
        "parts do not depend on what the whole depends on",
        ((growth, "parts_of", parts_without_dependencies),),
        (GROWING,),
    ),
    Fault(
        "Decomposition",
        "a parent is resolved by its first part",
        ((parents, "settle_parent", resolve_at_once),),
        (SINGLE,),
    ),
    Fault(
        "Decomposition",
        "a parent's own check is skipped",
        ((parents, "settle_parent", skip_the_check),),
        (CHECKED,),
    ),
    Fault(
        "Decomposition",
        "a failing check of a parent is left alone",
        ((failure, "repair_parent", nothing),),
        (CHECKED,),
    ),
    Fault(
        "Repairs",
        "rounds of repair are not limited",
        (handler(events.BaseCaseFailed, every_round_is_the_first),),
        (PLAIN,),
    ),
    Fault(
        "Contraction",
        "a worker is told of everything",
        ((laws_of_starting, "context_of", tell_everything),),
        (SINGLE,),
    ),
    Fault(
        "Measure",
        "parts get as many parts as they like",
        ((growth, "_refuse_decomposition", none),),
        (GROWING,),
    ),
    Fault("Deciding", "a stop is overlooked", ((conductor, "finish", nothing),), (PEOPLE,)),
    Fault("Deciding", "work goes on during a redirect", ((conductor, "_interrupt", nothing),), (PEOPLE,)),
    Fault(
        "Deciding",
        "limits come before exhaustion",
        ((conductor, "reach_limits", limits_first), (ending, "_is_exhausted", no)),
        (SINGLE,),
    ),
    Fault(
        "Deciding",
        "the base case is not tried once more",
        (
            (Run, "end", lambda run, reason, **_: setattr(run, "ending", reason)),
            (ending, "verdict_is_due", no),
            (
                checking,
                "verdict_is_due",
                lambda run: not run.has_begun or (run.is_all_resolved() and not run.is_verified and run.ending is None),
            ),
        ),
        (PLAIN,),
    ),
    Fault(
        "Deciding",
        "the base case is not tried at the start",
        ((Run, "__init__", begun(Run.__init__)),),
        (SINGLE,),
    ),
    Fault(
        "Deciding",
        "what is all resolved is completed",
        (handler(reports.Verified, complete_anyway),),
        (SINGLE,),
    ),
    Fault(
        "Deciding",
        "merges happen while the base case is tried",
        ((merging, "merge_next", merge_at_any_time),),
        (EARLY,),
    ),
    Fault("Deciding", "a worker's word is enough", (handler(reports.WorkDone, believe),), (SINGLE,)),
    Fault(
        "Deciding",
        "a stop loses results",
        (handler(events.LoopStopped, forget_results),),
        (PEOPLE,),
    ),
    Fault("Epochs", "late reports count", ((Run, "cancel", cancel_nothing),), (RACE, PEOPLE)),
    Fault(
        "Epochs",
        "a redirect begins no new epoch",
        (handler(events.RedirectRequested, redirect_in_the_same_epoch),),
        (PEOPLE,),
    ),
)
