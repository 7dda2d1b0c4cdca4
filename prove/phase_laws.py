"""Laws of every step of a phase loop, stated without asking the machine for its reason."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.core.phases.effects import Finish, GoOn, PhaseEffect
from aotloop.core.phases.events import ApprovalGiven, IterationEnded, PhaseEvent, PromiseMade, ReceiptFiled
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop


class Step(msgspec.Struct, frozen=True):
    before: PhaseLoop
    event: PhaseEvent
    after: PhaseLoop
    effects: tuple[PhaseEffect, ...]
    proven: frozenset[Phase]
    good: bool
    tests_pass: bool

    @property
    def newly_forced(self) -> list[Phase]:
        old = sum(error.forced for error in self.before.errors)
        return [error.phase for error in self.after.errors if error.forced][old:]


def violations(step: Step, left_before: int, left_after: int, *, by_person: bool) -> Iterator[str]:
    yield from _halting(step, left_before, left_after, by_person=by_person)
    yield from _leaving(step)
    yield from _counting(step)
    yield from _completing(step)
    yield from _resting(step)


def _halting(step: Step, left_before: int, left_after: int, *, by_person: bool) -> Iterator[str]:
    """Bounds are said once more here: by limits alone, not by what the machine does with them."""
    before, after = step.before, step.after
    if left_after < 0:
        yield "fewer than no steps are left"
    has_moved = before.phase != after.phase or before.status != after.status or isinstance(step.event, IterationEnded)
    if has_moved and not by_person and after.status != "stopped" and left_after >= left_before:
        yield f"a step, and it could make {left_before} before and {left_after} now"
    if not has_moved and left_after > left_before:
        yield "nothing moved, and more steps are left"
    if isinstance(step.event, IterationEnded) and left_after >= left_before:
        yield "an iteration that uses up nothing"
    if after.status == "running" and after.global_iteration >= after.max_iterations:
        yield "it goes on beyond its iterations"
    if after.status == "running" and after.phase_iteration >= after.max_phase_iterations:
        yield "it stays in a phase beyond its iterations"
    if after.status == "running" and after.enforce_budget and after.spent_usd >= after.budget_limit_usd:
        yield "it goes on with its budget spent"
    if after.phase == "fix" and after.fix_review_cycles >= after.max_fix_cycles:
        yield "one round of fixing too many"


def _leaving(step: Step) -> Iterator[str]:
    before, after = step.before, step.after
    if before.phase == after.phase:
        if step.newly_forced:
            yield "on record as left by force, and still there"
        return
    left = before.phase
    is_forced = step.newly_forced == [left]
    if not is_forced and left not in step.proven:
        yield f"{left} was left without proof and without a record"
    if not is_forced and not step.good:
        yield f"{left} was left by something forged"
    if is_forced and left in after.phases_completed and left not in before.phases_completed:
        yield f"{left} was left by force, and is counted as completed"
    yield from _order(step, left)


def _order(step: Step, left: Phase) -> Iterator[str]:
    before, after, at = step.before, step.after, PHASES.index
    if left == "spec_test" and (step.newly_forced or isinstance(step.event, IterationEnded)):
        yield "spec_test was left by force"
    if left == "spec_test" and not before.skip_test_review and not isinstance(step.event, ApprovalGiven):
        yield "spec_test was left without a person's word"
    if left == "test" and not step.tests_pass:
        yield "test was left with failing tests"
    if at(after.phase) < at(left) and (left, after.phase) != ("re_review", "fix"):
        yield f"from {left} back to {after.phase}"
    if at(left) < at("spec_test") < at(after.phase):
        yield "spec_test was skipped"


def _counting(step: Step) -> Iterator[str]:
    before, after = step.before, step.after
    added = after.phases_completed[len(before.phases_completed) :]
    if after.phases_completed[: len(before.phases_completed)] != before.phases_completed:
        yield "what was completed is not any more"
    for phase in added:
        if phase != before.phase or phase not in step.proven:
            yield f"{phase} counts as completed without proof"
    if len(set(after.phases_completed)) < len(after.phases_completed):
        yield "a phase is counted twice"
    used = after.global_iteration - before.global_iteration
    if used != isinstance(step.event, IterationEnded):
        yield f"{used} iterations were counted"


def _completing(step: Step) -> Iterator[str]:
    before, after = step.before, step.after
    if after.status != "completed":
        if Finish() in step.effects:
            yield "told to finish, and not completed"
        return
    if not isinstance(step.event, PromiseMade) or before.phase != "ship":
        yield f"completed in {before.phase} by {type(step.event).__name__}"
    if not step.tests_pass:
        yield "completed with failing acceptance tests"
    if not step.good:
        yield "completed by something forged"
    forced = {error.phase for error in after.errors if error.forced}
    owed = set(PHASES) - forced - {"fix", "re_review"} - ({"brainstorm"} if before.skip_brainstorm else set())
    if missing := owed - step.proven:
        yield f"completed without proof of {', '.join(sorted(missing))}"


def _resting(step: Step) -> Iterator[str]:
    before, after = step.before, step.after
    if before.status in ("completed", "cancelled") and after != before:
        yield f"it was {before.status}, and changed"
    if before.status in ("stopped", "waiting") and isinstance(step.event, IterationEnded | ReceiptFiled | PromiseMade):
        yield f"it was {before.status}, and went on"
    if not step.good and not any(isinstance(one, GoOn) and one.reasons for one in step.effects):
        yield "something forged was not sent back with a reason"
    if after.status == "stopped" and not (after.stop_reason or "").startswith(("limit:", "user:")):
        yield "stopped without saying why"
