"""What must hold of every step: the state before, what was reported, what was asked for, the state after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import msgspec

from aotloop.core import events
from aotloop.core.conduct import Attempt, conduct, reports
from aotloop.core.context import context_of
from aotloop.core.effects import (
    Backtracked,
    CancelAttempt,
    Effect,
    Finished,
    Integrate,
    Resolved,
    Revert,
    StartAttempt,
    VerifyBaseCase,
    Withdrawn,
)
from aotloop.core.invariants import findings_of
from aotloop.core.measure import Measure
from aotloop.core.model import Loop
from prove.ghost import Ghost
from prove.oracle import Plain
from prove.shapes import Setting
from prove.world import AT, Action, NotedRun, fork, key_of


class Before(msgspec.Struct, frozen=True):
    """What the laws need to know of the state before the step."""

    loop: Loop
    attempts: dict[int, Attempt]
    merging: int | None
    verifying: int | None
    checking: frozenset[str]
    reverting: bool
    measure: tuple[int, int]
    bound: int


class Step:
    def __init__(
        self, before: Before, action: Action, effects: list[Effect], run: NotedRun, ghost: Ghost, setting: Setting
    ) -> None:
        self.before, self.action, self.effects = before, action, effects
        self.run, self.ghost, self.setting = run, ghost, setting

    @cached_property
    def plain(self) -> Plain:
        return Plain(self.run.loop)

    @property
    def loop(self) -> Loop:
        return self.run.loop

    @property
    def report(self) -> reports.Report:
        return self.action.report

    @property
    def is_correction(self) -> bool:
        return isinstance(self.report, reports.Told) and isinstance(self.report.event, events.Corrected)

    def asked(self, kind: type[Effect]) -> list[Effect]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def noted(self, kind: type[events.Event]) -> list[events.Event]:
        return [event for event in self.run.noted if isinstance(event, kind)]


def state_before(run: NotedRun) -> Before:
    measured = Measure(run.loop, run.board)
    return Before(
        run.loop.snapshot(),
        {**run.attempts, **run.blocked},
        run.merging,
        run.verifying,
        frozenset(run.checking),
        run.reverting,
        measured.value,
        measured.attempts_left,
    )


Law = Callable[[Step], Iterator[str]]


def violations(step: Step) -> list[str]:
    return [f"{law.__name__[1:].replace('_', ' ')}: {broken}" for law in LAWS for broken in law(step)]


# --- the file ----------------------------------------------------------------------------------------------------


def _the_loop_stays_valid(step: Step) -> Iterator[str]:
    for finding in findings_of(step.loop):
        if finding.level == "error":
            yield str(finding)
    plain = step.plain
    for atom in step.loop.atoms:
        if atom.status == "pending" and atom.id in step.loop.bindings:
            yield f"{atom.id} is pending and has a result"
        if atom.status == "resolved" and not all(map(plain.is_met, plain.parts(atom.id))):
            yield f"{atom.id} is resolved before its parts"


def _history_is_kept(step: Step) -> Iterator[str]:
    if not step.is_correction and step.loop.trail[: len(step.before.loop.trail)] != step.before.loop.trail:
        yield "the trail was shortened or rewritten"
    gone = {atom.id for atom in step.before.loop.atoms} - {atom.id for atom in step.loop.atoms}
    allowed = {one for effect in step.asked(Backtracked) for one in effect.dropped}  # type: ignore[attr-defined]
    allowed |= {one for effect in step.asked(Withdrawn) for one in effect.atoms}  # type: ignore[attr-defined]
    if step.is_correction:
        allowed |= {atom.id for atom in step.before.loop.atoms if atom.repairs is not None}
    if gone - allowed:
        yield f"{', '.join(sorted(gone - allowed))} vanished"


def _a_stop_keeps_everything(step: Step) -> Iterator[str]:
    if step.asked(Finished) and isinstance(step.report, reports.Told):
        if {atom.id for atom in step.before.loop.atoms} != {atom.id for atom in step.loop.atoms}:
            yield "atoms were lost"
        kept = {one: step.before.loop.bindings[one] for one in step.before.loop.bindings}
        if kept != step.loop.bindings:
            yield "results were lost"


# --- what starts -------------------------------------------------------------------------------------------------


def _only_what_is_ready_starts(step: Step) -> Iterator[str]:
    started = step.asked(StartAttempt)
    if not started:
        return
    ids = [one.atom for one in started]  # type: ignore[attr-defined]
    earlier = step.loop.snapshot()
    earlier.atoms = [
        msgspec.structs.replace(atom, status="pending") if atom.id in ids and atom.status == "in_progress" else atom
        for atom in earlier.atoms
    ]
    plain = Plain(earlier)
    for one in started:
        attempt = step.run.attempts.get(one.attempt)  # type: ignore[attr-defined]
        if attempt is None:
            yield f"{one.atom} was started and forgotten"  # type: ignore[attr-defined]
        elif attempt.weighs_for is not None:
            group = step.loop.or_groups[step.run.weighing[attempt.weighs_for].or_group]
            if attempt.atom in (group.selected, *group.failed, *group.blamed) or attempt.role != "probe":
                yield f"{attempt.atom} is no alternative to be probed"
        elif not plain.is_ready(attempt.atom):
            yield f"{attempt.atom} was started and is not ready"
        elif (attempt.role == "probe") != plain.atoms[attempt.atom].probe:
            yield f"{attempt.atom} was started as a {attempt.role}"
        elif attempt.atom in step.ghost.hopeless and not attempt.weighs_for:
            yield f"{attempt.atom} would fail again in the same way"


def _slots_are_filled_and_not_exceeded(step: Step) -> Iterator[str]:
    run, slots = step.run, step.setting.slots
    if len(run.attempts) > slots:
        yield f"{len(run.attempts)} attempts at once, {slots} allowed"
    control = step.loop.control
    is_held_back = (
        run.finished
        or run.ending is not None
        or run.reverting
        or run.to_revert
        or not run.has_begun
        or control.redirect_requested
        or control.iteration >= step.setting.max_iterations
    )
    if is_held_back or len(run.attempts) >= slots:
        return
    plain = step.plain
    clashing = {one for pair in run.apart for one in pair if any(a.atom in pair for a in run.all_attempts())}
    if step.setting.touching and any(one.atom in {"A1", "A2"} for one in run.all_attempts()):
        clashing |= {"A1", "A2"}
    held = {atom for atom, merges in run.held.items() if merges == run.merges}
    idle = {one for one in plain.atoms if plain.is_ready(one)} - held - set(run.waiting) - set(run.stuck) - clashing
    if idle:
        yield f"a slot is idle while {', '.join(sorted(idle))} could start"


def _limits_hold(step: Step) -> Iterator[str]:
    limits = step.loop.objective.constraints
    if step.loop.control.iteration > limits.max_iterations:
        yield f"iteration {step.loop.control.iteration} of {limits.max_iterations}"
    if step.loop.control.stall_count > limits.max_stall_count:
        yield f"{step.loop.control.stall_count} stalls of {limits.max_stall_count}"
    verdict = step.loop.control.verdict
    if verdict is not None and any(count > limits.max_attempts for count in verdict.repair_rounds.values()):
        yield "more rounds of repair than allowed"
    for split in step.loop.decompositions:
        parts = [one for one in split.children if (atom := step.plain.atoms[one]).repairs is None and atom]
        if len(parts) > limits.max_children:
            yield f"{split.parent} has {len(parts)} parts"
    depth = max((_depth(step.loop, atom.id) for atom in step.loop.atoms if atom.repairs is None), default=0)
    if depth > max(limits.max_depth, 1):
        yield f"parts {depth} levels deep"


def _depth(loop: Loop, atom: str) -> int:
    above = [split.parent for split in loop.decompositions if atom in split.children]
    return 1 + max(_depth(loop, one) for one in above) if above else 0


def _what_conflicted_runs_apart(step: Step) -> Iterator[str]:
    running = {one.atom for one in step.run.attempts.values() if one.role == "worker"}
    for pair in step.run.apart:
        if pair <= running and len(pair) > 1:
            yield f"{' and '.join(sorted(pair))} run at once again"
    if step.setting.touching and {"A1", "A2"} <= running:
        yield "A1 and A2 change the same files, and run at once"


def _a_worker_is_told_what_it_builds_on_and_no_more(step: Step) -> Iterator[str]:
    for started in step.asked(StartAttempt):
        told = context_of(step.run.board, started.atom)  # type: ignore[attr-defined]
        expected: set[str] = set()
        open_ids = list(told.atom.depends_on)
        for needed in open_ids:
            group = step.plain.group_of(needed)
            chosen = needed if group is None else group.selected
            parts = step.plain.parts(chosen)
            open_ids += parts
            if not parts:
                expected.add(chosen)
        if set(told.results) != expected:
            yield f"{told.atom.id} builds on {sorted(expected)} and is told of {sorted(told.results)}"


def _the_base_case_is_tried_first(step: Step) -> Iterator[str]:
    if isinstance(step.report, reports.Began) and (not step.asked(VerifyBaseCase) or step.asked(StartAttempt)):
        yield "work begins before the base case was tried"


# --- merging and verifying ---------------------------------------------------------------------------------------


def _nothing_merges_while_something_is_judged(step: Step) -> Iterator[str]:
    run = step.run
    judging = run.verifying is not None or bool(run.checking)
    if judging and run.merging is not None:
        yield "a merge is under way while something is being judged"
    if run.reverting and (run.merging is not None or judging):
        yield "something is merged or judged before what was given up is taken back"
    if (run.reverting or run.to_revert) and step.asked(StartAttempt):
        yield "something started before what was given up is taken back"
    if len(step.asked(Integrate)) > 1 or len(step.asked(VerifyBaseCase)) > 1:
        yield "two merges or two verifications at once"


def _completed_only_by_a_passing_verdict(step: Step) -> Iterator[str]:
    passed = isinstance(step.report, reports.Verified) and step.report.verdict.passed
    was_asked_for = isinstance(step.report, reports.Verified) and step.report.number == step.before.verifying
    if (step.loop.control.status == "completed") != (passed and was_asked_for):
        yield f"the loop is {step.loop.control.status} after: {step.action.name}"


def _a_claim_alone_resolves_nothing(step: Step) -> Iterator[str]:
    """Only what is merged is resolved (or a parent, by its parts and its check)."""
    before = {atom.id: atom for atom in step.before.loop.atoms}
    plain = step.plain
    for atom in step.loop.atoms:
        if atom.status != "resolved" or before[atom.id].status == "resolved":
            continue
        is_merged = isinstance(step.report, reports.Merged) and step.before.merging == step.report.attempt
        is_own = is_merged and step.before.attempts[step.report.attempt].atom == atom.id  # type: ignore[attr-defined]
        is_checked = isinstance(step.report, reports.ParentChecked) and step.report.passed
        if plain.parts(atom.id):
            if atom.check is not None and not (is_checked and step.report.atom == atom.id):  # type: ignore[attr-defined]
                yield f"{atom.id} is resolved though its check did not pass"
        elif not is_own:
            yield f"{atom.id} is resolved by: {step.action.name}"


# --- failure -----------------------------------------------------------------------------------------------------


def _a_failing_whole_is_mended(step: Step) -> Iterator[str]:
    if not isinstance(step.report, reports.ParentChecked) or step.report.passed or step.asked(Backtracked):
        return
    parent = step.plain.atoms[step.report.atom]
    if parent.attempts < step.setting.max_attempts and all(map(step.plain.is_met, step.plain.parts(parent.id))):
        yield f"the check of {parent.id} failed, and nothing is to mend that"


def _failures_are_counted_and_recorded(step: Step) -> Iterator[str]:
    failed = step.noted(events.AtomFailed)
    for event in failed:
        atom = event.atom  # type: ignore[attr-defined]
        if not any(
            entry.type == "failure" and entry.atom == atom for entry in step.loop.trail[len(step.before.loop.trail) :]
        ):
            yield f"the failure of {atom} is not in the trail"
    if failed and isinstance(step.report, reports.MustWait | reports.MergeConflicted | reports.MergeBlocked):
        yield f"{step.action.name}, and that counts as a failure"
    before = {atom.id: atom.attempts for atom in step.before.loop.atoms}
    reset = {one for effect in step.asked(Backtracked) for one in effect.reset}  # type: ignore[attr-defined]
    split = {event.parent for event in step.noted(events.AtomDecomposed)}  # type: ignore[attr-defined]
    counted = {event.atom for event in failed}  # type: ignore[attr-defined]
    counted |= {event.atom for event in step.noted(events.AlternativeSought)}  # type: ignore[attr-defined]
    counted |= {event.atom for event in step.noted(events.AtomProbed) if not event.feasible}  # type: ignore[attr-defined]
    for atom in step.loop.atoms:
        if atom.id not in before or step.is_correction or atom.id in reset | split:
            continue
        if atom.id in counted and any(e.atom == atom.id for e in failed) and atom.attempts <= before[atom.id]:  # type: ignore[attr-defined]
            yield f"the failure of {atom.id} was not counted"
        if atom.id not in counted and atom.attempts != before[atom.id]:
            yield f"attempts of {atom.id} went from {before[atom.id]} to {atom.attempts}"


def _a_backtrack_resets_exactly_what_was_built_on_the_left_choice(step: Step) -> Iterator[str]:
    for effect in step.asked(Backtracked):
        assert isinstance(effect, Backtracked)
        plain = Plain(step.before.loop)
        parts = {effect.left} | plain.all_parts(effect.left)
        affected = parts | plain.built_on(parts)
        was = plain.atoms
        repairs = {one for one, atom in was.items() if atom.repairs is not None}
        own = {one for one in repairs if any(one in split.children for split in step.before.loop.decompositions)}
        for split in step.before.loop.decompositions:
            if split.parent not in affected:
                own -= set(split.children)
        globally = repairs - {one for split in step.before.loop.decompositions for one in split.children}
        if set(effect.dropped) & set(was) != (globally | own) - _withdrawn(step):
            yield f"repairs dropped: {effect.dropped}, to be dropped: {sorted(globally | own)}"
        yield from _resets(step, effect, affected)
        selections = [
            entry for entry in step.loop.trail[len(step.before.loop.trail) :] if entry.selected == effect.selected
        ]
        if not selections:
            yield f"the switch to {effect.selected} is not in the trail"
        group = step.loop.or_groups[effect.or_group]
        if (effect.left in group.failed) == (effect.left in group.blamed):
            yield f"{effect.left} is neither failed nor blamed, or both"


def _withdrawn(step: Step) -> set[str]:
    return {one for effect in step.asked(Withdrawn) for one in effect.atoms}  # type: ignore[attr-defined]


def _resets(step: Step, effect: Backtracked, affected: set[str]) -> Iterator[str]:
    before = {atom.id: atom for atom in step.before.loop.atoms}
    started = {one.atom for one in step.asked(StartAttempt)}  # type: ignore[attr-defined]
    cancelled = {one.atom for one in step.asked(CancelAttempt)}  # type: ignore[attr-defined]
    concerned = {getattr(event, "atom", None) for event in step.run.noted}
    for atom in step.loop.atoms:
        if atom.id not in before:
            continue
        if atom.id in affected:
            if atom.status == "resolved" or atom.attempts or atom.id in step.loop.bindings:
                yield f"{atom.id} was built on {effect.left} and is not reset"
        elif atom.id not in started | cancelled | concerned and not step.plain.parts(atom.id):
            if (atom.status, atom.attempts) != (before[atom.id].status, before[atom.id].attempts):
                yield f"{atom.id} has nothing to do with {effect.left} and was reset"
    resolved = {one for one in affected if one in before and before[one].status == "resolved"}
    resolved |= {one for one in effect.dropped if one in before and before[one].status == "resolved"}
    resolved |= {one for one in _resolved_now(step) if one in affected.union(effect.dropped)}
    if set(effect.undone) != resolved:
        yield f"to be taken back: {effect.undone}, had been resolved: {sorted(resolved)}"
    told = {atom for one in step.asked(Revert) for atom in one.atoms}  # type: ignore[attr-defined]
    if not resolved <= told.union(step.run.to_revert) and not step.run.finished:
        yield "what was given up is not taken back"


def _resolved_now(step: Step) -> set[str]:
    merged = {event.atom for event in step.noted(events.AtomResolved)}  # type: ignore[attr-defined]
    return merged | {effect.atom for effect in step.asked(Resolved)}  # type: ignore[attr-defined]


def _a_choice_that_failed_itself_has_failed(step: Step) -> Iterator[str]:
    for effect in step.asked(Backtracked):
        assert isinstance(effect, Backtracked)
        failing = {event.atom for event in step.noted(events.AtomFailed)}  # type: ignore[attr-defined]
        failing |= {event.atom for event in step.noted(events.AlternativeSought)}  # type: ignore[attr-defined]
        group = step.loop.or_groups[effect.or_group]
        if effect.left in failing and effect.left not in group.failed and not group.blamed.get(effect.left):
            yield f"{effect.left} failed, rests on nothing else, and is only blamed"


def _alternatives_are_weighed_before_one_is_taken(step: Step) -> Iterator[str]:
    if not isinstance(step.report, reports.WorkFailed | reports.MergeRefused) or not step.asked(Backtracked):
        return
    if isinstance(step.report, reports.WorkFailed) and not step.report.taught:
        return
    if step.before.attempts[step.report.attempt].weighs_for is not None:
        return
    judged = step.run.judged
    for effect in step.asked(Backtracked):
        assert isinstance(effect, Backtracked)
        if judged is not None and judged.or_groups[effect.or_group].selected == effect.left:
            continue  # it was forced to, by a stall
        plain = Plain(step.before.loop)
        unknown = [one for one in plain.untried(effect.or_group) if plain.atoms[one].findings is None]
        unknown = [one for one in unknown if plain.atoms[one].run is None]
        group = step.before.loop.or_groups[effect.or_group]
        if len(plain.untried(effect.or_group)) > 1 and unknown and not group.speculative:
            yield f"{', '.join(unknown)} were not probed before {effect.selected} was taken"


def _the_cheapest_feasible_choice_is_next(step: Step) -> Iterator[str]:
    if not isinstance(step.report, reports.ProbeReturned):
        return
    attempt = step.before.attempts[step.report.attempt]
    plain = step.plain
    group = plain.group_of(attempt.atom)
    if not step.report.feasible and group is not None and attempt.atom not in group.failed:
        yield f"{attempt.atom} is not feasible and has not failed"
    for effect in step.asked(Backtracked):
        assert isinstance(effect, Backtracked)
        if attempt.weighs_for is None or not any(
            attempt.atom == one for one in step.loop.or_groups[effect.or_group].choices
        ):
            continue
        chosen = plain.atoms[effect.selected].estimate
        for other in plain.untried(effect.or_group):
            cost = plain.atoms[other].estimate
            if cost is not None and (chosen is None or cost < chosen):
                yield f"{other} is cheaper than {effect.selected}"


def _a_race_has_one_winner(step: Step) -> Iterator[str]:
    for group in step.loop.or_groups.values():
        running = [
            one.atom for one in step.run.attempts.values() if one.atom in group.choices and one.weighs_for is None
        ]
        if step.plain.is_met(group.selected) and running:
            yield f"{', '.join(running)} still run, though {group.selected} has won"
        is_merged = isinstance(step.report, reports.Merged) and not step.asked(Backtracked)
        winner = step.before.attempts[step.report.attempt].atom if is_merged else None  # type: ignore[attr-defined]
        if winner in group.choices and not step.plain.is_met(winner):
            yield f"{winner} was merged, and {group.selected} is taken for the winner"
        if not group.speculative and len(running) > 1:
            yield f"{', '.join(running)} race, though nobody asked for that"


# --- convergence -------------------------------------------------------------------------------------------------


def _the_measure_becomes_smaller(step: Step) -> Iterator[str]:
    """With every attempt that counts; and never larger, unless a person corrects the loop."""
    if step.is_correction or step.run.loop.control.redirect_requested:
        return
    measured = Measure(step.loop, step.run.board)
    value, bound = measured.value, measured.attempts_left
    if step.action.counts and not (value < step.before.measure and bound < step.before.bound):
        yield f"{step.before.measure} → {value}, bound {step.before.bound} → {bound} by: {step.action.name}"
    elif bound > step.before.bound:
        yield f"{step.before.measure} → {value}, bound {step.before.bound} → {bound}"


def _stalls_are_counted(step: Step) -> Iterator[str]:
    if step.noted(events.GenerationEnded) and step.ghost.expected_stalls is not None:
        if step.loop.control.stall_count != step.ghost.expected_stalls:
            yield f"{step.loop.control.stall_count} stalls, should be {step.ghost.expected_stalls}"


def _a_generation_ends_when_its_attempts_have(step: Step) -> Iterator[str]:
    if step.ghost.ended_early:
        yield "attempts that belong to it are still under way"


def _growth_that_leads_nowhere_is_withdrawn(step: Step) -> Iterator[str]:
    if step.ghost.is_to_be_withdrawn and not step.asked(Withdrawn):
        yield "it grew twice in a row, resolved nothing, and stays as it is"


def _parts_depend_on_what_the_whole_depends_on(step: Step) -> Iterator[str]:
    for event in step.noted(events.AtomDecomposed):
        parent = event.parent  # type: ignore[attr-defined]
        for part in step.plain.parts(parent) if parent in step.plain.atoms else ():
            missing = set(step.plain.atoms[parent].depends_on) - set(step.plain.atoms[part].depends_on)
            if missing:
                yield f"{part} does not depend on {', '.join(missing)}"


def _a_stall_changes_the_strategy(step: Step) -> Iterator[str]:
    ended = step.noted(events.GenerationEnded)
    control, limits = step.loop.control, step.loop.objective.constraints
    if not ended or control.stall_count != limits.max_stall_count - 1 or not control.stall_count:
        return
    judged = step.run.judged
    if judged is None or control.stall_count <= judged.control.stall_count:
        return
    plain = Plain(judged)
    open_groups = [
        name
        for name, group in judged.or_groups.items()
        if name in step.loop.or_groups  # not withdrawn at this very moment
        and plain.untried(name)
        and plain.is_required(group.selected)
        and plain.was_tried(group.selected)
    ]
    if open_groups and not step.asked(Backtracked) and not step.run.weighing:
        yield f"it stalls, and {', '.join(open_groups)} did not switch"


# --- ending ------------------------------------------------------------------------------------------------------


def _an_end_has_its_reason(step: Step) -> Iterator[str]:
    run = step.run
    for finished in step.asked(Finished):
        reason = finished.reason or ""  # type: ignore[attr-defined]
        control, limits = step.loop.control, step.loop.objective.constraints
        if finished.status == "completed":  # type: ignore[attr-defined]
            continue
        if control.stop_requested != reason.startswith("user:"):
            yield f"it ended as {reason!r}, stop requested: {control.stop_requested}"
        if not reason.startswith("user:") and not step.ghost.is_tried:
            yield f"the base case was not tried once more before {reason!r}"
        plain = step.plain
        can_start = [one for one in plain.atoms if plain.is_ready(one)]
        if reason.startswith("exhausted:") and can_start:
            yield f"{', '.join(can_start)} could have been tried"
        if reason.startswith("stalled:") and control.stall_count < limits.max_stall_count:
            yield f"only {control.stall_count} stalls"
        if reason.startswith("limit:") and control.iteration < limits.max_iterations:
            yield f"only {control.iteration} iterations"
        if reason.startswith("limit:") and control.stall_count >= limits.max_stall_count:
            yield "it had stalled before it reached the limit"
        if (
            reason.startswith(("limit:", "stalled:"))
            and not can_start
            and plain.unresolved()
            and not run.stuck
            and not run.weighing
        ):
            yield f"it is exhausted, and said {reason!r}"
        if run.attempts or run.blocked:
            yield "attempts outlive the run"


def _it_ends_or_goes_on(step: Step) -> Iterator[str]:
    """There is always something under way, or somebody to wait for."""
    run = step.run
    waits = run.is_busy() or run.waiting or step.loop.control.redirect_requested
    if not run.finished and not waits:
        yield "nothing is under way, and it has not ended"
    if run.finished == (step.loop.control.status == "running"):
        yield f"finished: {run.finished}, status: {step.loop.control.status}"


def _redirect_and_stop_come_first(step: Step) -> Iterator[str]:
    control = step.loop.control
    if control.redirect_requested and (step.run.attempts or step.run.verifying is not None or step.run.checking):
        yield "something is under way during a redirect"
    if (
        control.stop_requested
        and not control.redirect_requested
        and not step.run.finished
        and not step.run.reverting
        and not step.run.to_revert
    ):
        yield "a stop was requested, and it goes on"


def _what_is_over_does_not_count(step: Step) -> Iterator[str]:
    cancelled = step.asked(CancelAttempt)
    if not cancelled or step.run.finished:
        return
    late = fork(step.run)
    was = key_of(late)
    for one in cancelled:
        number = one.attempt  # type: ignore[attr-defined]
        for report in (
            reports.WorkDone(attempt=number, summary="late", at=AT),
            reports.Merged(attempt=number, at=AT),
            reports.WorkFailed(attempt=number, reason="late", at=AT),
        ):
            if conduct(late, report) or key_of(late) != was:
                yield f"a late report on {one.atom} changed something"  # type: ignore[attr-defined]
                return
    if isinstance(step.report, reports.Told) and step.loop.control.epoch <= step.before.loop.control.epoch:
        if isinstance(step.report.event, events.RedirectRequested):
            yield "a redirect did not begin another epoch"


LAWS: tuple[Law, ...] = (
    _the_loop_stays_valid,
    _history_is_kept,
    _a_stop_keeps_everything,
    _only_what_is_ready_starts,
    _slots_are_filled_and_not_exceeded,
    _limits_hold,
    _what_conflicted_runs_apart,
    _a_worker_is_told_what_it_builds_on_and_no_more,
    _the_base_case_is_tried_first,
    _nothing_merges_while_something_is_judged,
    _completed_only_by_a_passing_verdict,
    _a_claim_alone_resolves_nothing,
    _a_failing_whole_is_mended,
    _failures_are_counted_and_recorded,
    _a_backtrack_resets_exactly_what_was_built_on_the_left_choice,
    _a_choice_that_failed_itself_has_failed,
    _alternatives_are_weighed_before_one_is_taken,
    _the_cheapest_feasible_choice_is_next,
    _a_race_has_one_winner,
    _the_measure_becomes_smaller,
    _a_generation_ends_when_its_attempts_have,
    _growth_that_leads_nowhere_is_withdrawn,
    _parts_depend_on_what_the_whole_depends_on,
    _stalls_are_counted,
    _a_stall_changes_the_strategy,
    _an_end_has_its_reason,
    _it_ends_or_goes_on,
    _redirect_and_stop_come_first,
    _what_is_over_does_not_count,
)
