"""Faults planted in the machine, one or more for every paragraph of its guarantees: the checker has to find each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import msgspec
from msgspec.structs import replace

from aotloop.core import (
    atoms,
    conflicts,
    context,
    events,
    failure,
    generations,
    growth,
    measure,
    parents,
    parts,
    repairs,
    standing,
    status,
    surrender,
    tally,
    verdicts,
)
from aotloop.core.conduct import attempts, checking, conductor, ending, merging, starting
from aotloop.core.conduct.run import Run
from aotloop.core.effects import Backtracked, Finished, Integrate, Resolved
from aotloop.core.graph import Graph
from aotloop.core.model import Generation
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


def _nothing(*_: Any, **__: Any) -> list[Any]:
    return []


def _no(*_: Any, **__: Any) -> bool:
    return False


def _yes(*_: Any, **__: Any) -> bool:
    return True


def _none(*_: Any, **__: Any) -> None:
    return None


def _after(original: Callable[..., Any], change: Callable[..., Any]) -> Callable[..., Any]:
    """The original, and then something more: `change` gets its result and its arguments."""

    def mutant(*args: Any, **kwargs: Any) -> Any:
        return change(original(*args, **kwargs), *args)

    return mutant


# --- single mutants ----------------------------------------------------------------------------------------------


def _fail_without_holding(run: Run, attempt: Any, reason: str, at: str, *, taught: bool) -> Any:
    return run.advance(events.AtomFailed(atom=attempt.atom, reason=reason, at=at, weigh=taught))


def _count_no_attempt(board: Any, event: Any) -> Any:
    before = board.atoms[event.atom].attempts
    effects = _FAIL(board, event)
    if event.atom in board.atoms and board.atoms[event.atom].attempts == before + 1:
        board.put(replace(board.atoms[event.atom], attempts=before))
    return effects


def _reset_all(board: Any, _: Any) -> Any:
    return _RESET(board, set(board.atoms))


def _reset_left_only(board: Any, atom_ids: Any) -> Any:
    selected = {group.selected for group in board.loop.or_groups.values()}
    choices = set(board.group_of)
    return _RESET(board, {one for one in atom_ids if one in choices and one not in selected})


def _keep_attempts(board: Any, atom_ids: Any) -> Any:
    before = {one: board.atoms[one].attempts for one in atom_ids if one in board.atoms}
    changed = _RESET(board, atom_ids)
    for one, count in before.items():
        board.put(replace(board.atoms[one], attempts=count))
    return changed


def _blame_always(board: Any, event: Any, *, failed: Any, blamed: Any) -> Any:
    del failed
    return _LEAVE(board, event, failed=None, blamed=blamed)


def _leave_no_trail(board: Any, event: Any, **kwargs: Any) -> Any:
    effects = _LEAVE(board, event, **kwargs)
    board.loop.trail[:] = [entry for entry in board.loop.trail if entry.type != "selection"]
    return effects


def _undo_nothing(board: Any, event: Any, **kwargs: Any) -> Any:
    return [replace(one, undone=()) if isinstance(one, Backtracked) else one for one in _LEAVE(board, event, **kwargs)]


def _earliest_first(graph: Any, conflict: Any) -> Any:
    order = conflicts.group_order(graph)
    possible = [name for name in conflict if conflicts.untried(graph, graph.or_groups[name])]
    return (min(possible, key=lambda name: order[name]), set(conflict)) if possible else None


def _resolve_at_once(board: Any, parent: str) -> Any:
    if board.atoms[parent].status != "pending":
        return []
    parents.resolve_parent(board, parent)
    return [Resolved(atom=parent)]


def _skip_the_check(board: Any, parent: str) -> Any:
    if board.atoms[parent].status != "pending" or board.waits_for(parent):
        return []
    parents.resolve_parent(board, parent)
    return [Resolved(atom=parent)]


def _count_repairs_too(loop: Any, _: Any) -> None:
    tally.something_got_smaller(loop)


def _merge_at_any_time(run: Run) -> Any:
    if run.merging is not None or not run.to_merge:
        return []
    run.merging = run.to_merge[0]
    return [Integrate(attempt=run.merging, atom=run.attempts[run.merging].atom)]


def _believe(run: Run, report: Any) -> Any:
    """A worker's word is enough."""
    effects = _DONE(run, report)
    attempt = run.take_off(report.attempt)
    return effects + (run.advance(events.AtomResolved(atom=attempt.atom, summary="said so")) if attempt else [])


def _complete_anyway(run: Run, report: Any) -> Any:
    if run.is_all_resolved() and run.verifying == report.number:
        run.loop.control = replace(run.loop.control, status="completed")
        run.verifying, run.finished = None, True
        return [Finished(status="completed")]
    return _VERIFIED(run, report)


def _forget_members(run: Run, at: str) -> Any:
    if run.is_open and run.has_outcome:
        run.is_open, run.members, run.has_outcome = False, set(), False
        return run.advance(events.GenerationEnded(at=at))
    return []


def _cancel_nothing(run: Run, attempt: Any, *, discard: bool = True) -> Any:
    effect = _CANCEL(run, attempt, discard=discard)
    run.attempts[attempt.number] = attempt
    return effect


def _redirect_in_the_same_epoch(board: Any, event: Any) -> Any:
    effects = _REDIRECT(board, event)
    board.loop.control = replace(board.loop.control, epoch=board.loop.control.epoch - 1)
    return effects


def _forget_results(board: Any, event: Any) -> Any:
    board.loop.bindings.clear()
    return _STOP(board, event)


def _wait_is_failure(run: Run, report: Any) -> Any:
    attempt = run.take_off(report.attempt)
    return attempts.fail(run, attempt, report.reason, report.at, taught=True) if attempt is not None else []


def _limits_first(run: Run) -> None:
    if run.ending is None and run.has_begun and (reason := ending._over_limit(run) or ending._stalled(run)):
        run.end(reason)


def _tell_everything(graph: Any, atom_id: str) -> Any:
    return replace(_CONTEXT(graph, atom_id), results=dict(graph.loop.bindings))


def _parts_without_dependencies(board: Any, event: Any, parent: Any) -> Any:
    children, groups = _PARTS(board, event, parent)
    return [replace(one, depends_on=()) for one in children], groups


def _dearest(board: Any, choices: Any) -> str:
    return max(choices, key=lambda one: board.atoms[one].estimate or 0)


def _feasible_anyway(board: Any, event: Any) -> Any:
    return _PROBE(board, replace(event, feasible=True))


def _every_round_is_the_first(board: Any, event: Any) -> Any:
    verdict = board.loop.control.verdict
    board.loop.control = replace(board.loop.control, verdict=replace(verdict, repair_rounds={}))
    return _REPAIR(board, event)


def _growth_is_progress(board: Any, event: Any) -> Any:
    effects = _DECOMPOSE(board, event)
    tally.something_got_smaller(board.loop)
    return effects


def _no_stall(board: Any, event: Any) -> Any:
    effects = _END(board, event)
    board.loop.control = replace(board.loop.control, stall_count=0)
    return effects


_FAIL, _RESET, _LEAVE, _PROBE = failure.fail, failure._reset, failure.leave, atoms.probe
_DONE, _VERIFIED, _CANCEL, _CONTEXT = attempts.done, checking.verified, Run.cancel, context.context_of
_REDIRECT, _STOP, _PARTS, _REPAIR = status.request_redirect, status.stop, parts.parts_of, verdicts.repair_base_case
_DECOMPOSE, _END = growth.decompose, generations.end_generation
_HANDLERS = conductor._HANDLERS


def _handler(kind: Any, mutant: Any) -> Patch:
    """Another way to handle one kind of report or event."""
    from aotloop.core import machine  # noqa: PLC0415
    from aotloop.core.conduct import reports  # noqa: PLC0415

    table = conductor if issubclass(kind, reports.Report) else machine
    return (table, "_HANDLERS", {**table._HANDLERS, kind: mutant})


def faults() -> list[Fault]:
    from aotloop.core.conduct import reports  # noqa: PLC0415
    import prove.laws as laws  # noqa: PLC0415, PLR0402

    return [
        Fault("Required", "unselected choices are required too", ((Graph, "is_unselected", _no),), (SINGLE,)),
        Fault(
            "Ready",
            "dependencies are not waited for",
            ((Graph, "waits_for", _nothing), (standing.Standing, "units_needed", lambda *_: set())),
            (SINGLE,),
        ),
        Fault("Ready", "what has failed for good is tried again", ((Graph, "is_exhausted", _no),), (SINGLE,)),
        Fault(
            "Ready",
            "of a race only the selected choice starts",
            ((starting, "is_startable", lambda run, one: not run.board.is_unselected(one)),),
            (RACE,),
        ),
        Fault(
            "Startable",
            "a command is repeated though nothing has moved",
            ((attempts, "fail", _fail_without_holding),),
            (PROBE,),
        ),
        Fault("Startable", "what changes the same files runs at once", ((starting, "_touch", _no),), (TOUCHING,)),
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
            ((conductor, "close_generation", _forget_members),),
            (PLAIN,),
        ),
        Fault(
            "Generations",
            "iterations are not limited",
            ((starting, "_another_generation_is_allowed", _yes), (ending, "_over_limit", _none)),
            (SINGLE,),
        ),
        Fault("Progress and stall", "nothing is a stall", (_handler(events.GenerationEnded, _no_stall),), (PLAIN,)),
        Fault(
            "Progress and stall",
            "resolving repairs is progress",
            ((atoms, "count_resolved", _count_repairs_too),),
            (PLAIN,),
        ),
        Fault(
            "Progress and stall",
            "growth is progress",
            (_handler(events.AtomDecomposed, _growth_is_progress),),
            (GROWING,),
        ),
        Fault(
            "Progress and stall",
            "a stall does not change the strategy",
            ((generations, "give_up_what_stalls", _nothing),),
            (PLAIN, SINGLE),
        ),
        Fault("Progress and stall", "stalls do not end the loop", ((ending, "_stalled", _none),), (SINGLE,)),
        Fault("Progress and stall", "growth is never withdrawn", ((generations, "withdraw", _nothing),), (GROWING,)),
        Fault("Failure ladder", "failures are not recorded", ((failure, "_record", _none),), (SINGLE,)),
        Fault("Failure ladder", "attempts are not counted", ((atoms, "fail", _count_no_attempt),), (PLAIN,)),
        Fault(
            "Failure ladder", "a wait counts as a failure", (_handler(reports.MustWait, _wait_is_failure),), (HINDERED,)
        ),
        Fault(
            "Failure ladder",
            "a refused proposal costs nothing",
            ((attempts, "_decompose", lambda run, attempt, *_: run.advance(events.AtomAbandoned(atom=attempt.atom))),),
            (GROWING,),
        ),
        Fault("Backtracking", "everything is reset", ((failure, "_reset", _reset_all),), (SINGLE,)),
        Fault(
            "Backtracking",
            "what was built on the left choice is kept",
            ((failure, "_reset", _reset_left_only),),
            (SINGLE,),
        ),
        Fault("Backtracking", "spent attempts stay spent", ((failure, "_reset", _keep_attempts),), (PLAIN,)),
        Fault(
            "Backtracking",
            "a choice that failed itself is only blamed",
            ((failure, "leave", _blame_always),),
            (SINGLE,),
        ),
        Fault(
            "Backtracking",
            "switches are not in the trail",
            ((failure, "leave", _leave_no_trail), (surrender, "leave", _leave_no_trail)),
            (SINGLE,),
        ),
        Fault("Backtracking", "blamed choices are never freed", ((failure, "_free_blamed", _none),), (), worlds=True),
        Fault(
            "Backtracking",
            "the earliest group switches first",
            ((failure, "group_to_switch", _earliest_first), (surrender, "group_to_switch", _earliest_first)),
            (),
            worlds=True,
        ),
        Fault(
            "Backtracking",
            "merged work of the left choice stays",
            ((failure, "leave", _undo_nothing), (surrender, "leave", _undo_nothing)),
            (SINGLE,),
        ),
        Fault(
            "Backtracking",
            "the new choice starts before the old is reverted",
            ((starting, "_is_reverting", _no),),
            (SINGLE,),
        ),
        Fault("Backtracking", "repairs of the left choice are kept", ((failure, "repairs_of", _nothing),), (PLAIN,)),
        Fault("Speculative", "the losers of a race run on", ((conductor, "_is_of_use", _yes),), (RACE,)),
        Fault("Speculative", "a losing racer is taken for the winner", ((atoms, "_settle_race", _none),), (RACE,)),
        Fault(
            "Probes",
            "an infeasible choice is tried all the same",
            (_handler(events.AtomProbed, _feasible_anyway),),
            (PROBE, SINGLE),
        ),
        Fault("Probes", "alternatives are not weighed", ((failure, "_worth_weighing", lambda *_: ()),), (SINGLE,)),
        Fault("Probes", "the dearest alternative is taken", ((failure, "cheapest", _dearest),), (SINGLE,)),
        Fault(
            "Probes",
            "unknown territory is entered without a probe",
            ((starting, "_start", lambda run, one, weighs_for=None: _start_as_worker(run, one, weighs_for)),),
            (PROBE,),
        ),
        Fault("Decomposition", "depth is not limited", ((Graph, "depth", lambda *_: 0),), (GROWING,)),
        Fault(
            "Decomposition",
            "parts do not depend on what the whole depends on",
            ((growth, "parts_of", _parts_without_dependencies),),
            (GROWING,),
        ),
        Fault(
            "Decomposition",
            "a parent is resolved by its first part",
            ((parents, "settle_parent", _resolve_at_once),),
            (SINGLE,),
        ),
        Fault(
            "Decomposition",
            "a parent's own check is skipped",
            ((parents, "settle_parent", _skip_the_check),),
            (CHECKED,),
        ),
        Fault(
            "Decomposition",
            "a failing check of a parent is left alone",
            ((failure, "repair_parent", _nothing),),
            (CHECKED,),
        ),
        Fault(
            "Repairs",
            "rounds of repair are not limited",
            (_handler(events.BaseCaseFailed, _every_round_is_the_first),),
            (PLAIN,),
        ),
        Fault("Contraction", "a worker is told of everything", ((laws, "context_of", _tell_everything),), (SINGLE,)),
        Fault(
            "Measure", "parts get as many parts as they like", ((growth, "_refuse_decomposition", _none),), (GROWING,)
        ),
        Fault("Deciding", "a stop is overlooked", ((conductor, "finish", _nothing),), (PEOPLE,)),
        Fault("Deciding", "work goes on during a redirect", ((conductor, "_interrupt", _nothing),), (PEOPLE,)),
        Fault(
            "Deciding",
            "limits come before exhaustion",
            ((conductor, "reach_limits", _limits_first), (ending, "_is_exhausted", _no)),
            (SINGLE,),
        ),
        Fault(
            "Deciding",
            "the base case is not tried once more",
            (
                (Run, "end", lambda run, reason, **_: setattr(run, "ending", reason)),
                (ending, "verdict_is_due", _no),
                (
                    checking,
                    "verdict_is_due",
                    lambda run: (
                        not run.has_begun or (run.is_all_resolved() and not run.is_verified and run.ending is None)
                    ),
                ),
            ),
            (PLAIN,),
        ),
        Fault(
            "Deciding", "the base case is not tried at the start", ((Run, "__init__", _begun(Run.__init__)),), (SINGLE,)
        ),
        Fault(
            "Deciding", "what is all resolved is completed", (_handler(reports.Verified, _complete_anyway),), (SINGLE,)
        ),
        Fault(
            "Deciding",
            "merges happen while the base case is tried",
            ((merging, "merge_next", _merge_at_any_time),),
            (EARLY,),
        ),
        Fault("Deciding", "a worker's word is enough", (_handler(reports.WorkDone, _believe),), (SINGLE,)),
        Fault("Deciding", "a stop loses results", (_handler(events.LoopStopped, _forget_results),), (PEOPLE,)),
        Fault("Epochs", "late reports count", ((Run, "cancel", _cancel_nothing),), (RACE, PEOPLE)),
        Fault(
            "Epochs",
            "a redirect begins no new epoch",
            (_handler(events.RedirectRequested, _redirect_in_the_same_epoch),),
            (PEOPLE,),
        ),
    ]


def _begun(original: Callable[..., None]) -> Callable[..., None]:
    def mutant(run: Run, *args: Any, **kwargs: Any) -> None:
        original(run, *args, **kwargs)
        run.has_begun = True

    return mutant


def _start_as_worker(run: Run, atom_id: str, weighs_for: str | None) -> Any:
    effect = _START(run, atom_id, weighs_for)
    if weighs_for is None:
        run.attempts[effect.attempt] = replace(run.attempts[effect.attempt], role="worker")  # type: ignore[attr-defined]
    return effect


_START = starting._start
