"""Laws of the end of a run; nothing counts after it."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core import events
from aotloop.core.effects import CancelAttempt, Finished
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.decisions import conduct
from prove.step import Step
from prove.world import AT, fork, key_of


def an_end_has_its_reason(step: Step) -> Iterator[str]:
    for finished in step.asked(Finished):
        if finished.status == "completed":
            continue
        reason = finished.reason or ""
        if step.loop.control.stop_requested != reason.startswith("user:"):
            yield f"it ended as {reason!r}, stop requested: {step.loop.control.stop_requested}"
        if not reason.startswith("user:") and not step.ghost.is_tried:
            yield f"the base case was not tried once more before {reason!r}"
        if step.run.attempts or step.run.blocked:
            yield "attempts outlive the run"
        yield from _in_the_order_of_decisions(step, reason)


def _in_the_order_of_decisions(step: Step, reason: str) -> Iterator[str]:
    """Exhausted, else stalled, else at a limit."""
    control, limits = step.loop.control, step.setting
    can_start = [one for one in step.plain.atoms if step.plain.is_ready(one)]
    held = {one for one, merges in step.run.held.items() if merges == step.run.merges}
    if reason.startswith("exhausted:") and set(can_start) - held:
        yield f"{', '.join(can_start)} could have been tried"
    if reason.startswith("stalled:") and control.stall_count < limits.max_stall:
        yield f"only {control.stall_count} stalls"
    if reason.startswith("limit:") and control.iteration < limits.max_iterations and control.tried < limits.max_total:
        yield f"only {control.iteration} iterations, {control.tried} attempts"
    if reason.startswith("limit:") and control.stall_count >= limits.max_stall:
        yield "it had stalled before it reached the limit"
    if reason.startswith(("limit:", "stalled:")) and not can_start and step.plain.unresolved() and not step.run.stuck:
        yield f"it is exhausted, and said {reason!r}"


def it_ends_or_goes_on(step: Step) -> Iterator[str]:
    """There is always work in progress, or a person or service to wait for."""
    run = step.run
    waits = run.is_busy() or run.waiting or step.loop.control.redirect_requested
    if not run.finished and not waits:
        yield "nothing is under way, and it has not ended"
    if run.finished == (step.loop.control.status == "running"):
        yield f"finished: {run.finished}, status: {step.loop.control.status}"


def redirect_and_stop_come_first(step: Step) -> Iterator[str]:
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


def what_is_over_does_not_count(step: Step) -> Iterator[str]:
    cancelled = step.asked(CancelAttempt)
    if not cancelled or step.run.finished:
        return
    late = fork(step.run)
    was = key_of(late)
    for one in cancelled:
        number = one.attempt
        for report in (
            reports.WorkDone(attempt=number, summary="late", at=AT),
            reports.Merged(attempt=number, at=AT),
            reports.WorkFailed(attempt=number, reason="late", at=AT),
        ):
            if conduct(late, report) or key_of(late) != was:
                yield f"a late report on {one.atom} changed something"
                return
    is_redirect = isinstance(step.report, reports.Happened) and isinstance(step.report.event, events.RedirectRequested)
    if is_redirect and step.loop.control.epoch <= step.before.loop.control.epoch:
        yield "a redirect did not begin another epoch"


LAWS = (
    an_end_has_its_reason,
    it_ends_or_goes_on,
    redirect_and_stop_come_first,
    what_is_over_does_not_count,
)
