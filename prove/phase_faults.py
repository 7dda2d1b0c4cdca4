"""Faults planted in the machine of phases, each in one thing: the checker has to find every one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import msgspec
from msgspec.structs import replace

from aotloop.core.phases import events, machine, phase_progress, promise, receipts, transitions, turn
from aotloop.core.phases.effects import AskForPromise, Finish
from aotloop.core.phases.model import PHASES, PhaseLoop
from aotloop.core.phases.transitions import moved
from prove.phases import Setting

BOUNDLESS = 10**6
SPENDING = Setting(max_iterations=2, max_fix_cycles=0, enforce_budget=True, budget_limit_usd=2)


PATIENT = Setting(max_iterations=2, max_phase_iterations=9)


class Fault(msgspec.Struct, frozen=True):
    """`replaced` of the module becomes `mutant`; of a table, single rows do."""

    name: str
    module: Any
    replaced: str
    mutant: Any
    setting: Setting = Setting(max_iterations=4)

    @contextmanager
    def planted(self) -> Iterator[None]:
        with ExitStack() as stack:
            original = getattr(self.module, self.replaced)
            if isinstance(original, dict):
                stack.enter_context(patch.dict(original, self.mutant))
            else:
                stack.enter_context(patch.object(self.module, self.replaced, self.mutant))
            yield


def _nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


def _forget_global_limit(loop: PhaseLoop, event: Any) -> Any:
    after, effects = _END(replace(loop, max_iterations=BOUNDLESS), event)
    return replace(after, max_iterations=loop.max_iterations), effects


def _forget_phase_limit(loop: PhaseLoop, event: Any) -> Any:
    after, effects = _END(replace(loop, max_phase_iterations=BOUNDLESS), event)
    return replace(after, max_phase_iterations=loop.max_phase_iterations), effects


def _forget_cycles(loop: PhaseLoop, open_findings: int, at: str) -> Any:
    after, effects = _COMPLETE(replace(loop, max_fix_cycles=BOUNDLESS), open_findings, at)
    return replace(after, max_fix_cycles=loop.max_fix_cycles), effects


def _count_what_was_forced(loop: PhaseLoop, reason: str, at: str, **given: Any) -> Any:
    after, effects = _FORCE(loop, reason, at, **given)
    if after.phase != loop.phase and loop.phase not in after.phases_completed:
        after = replace(after, phases_completed=(*after.phases_completed, loop.phase))
    return after, effects


def _force_silently(loop: PhaseLoop, reason: str, at: str, **given: Any) -> Any:
    after, effects = _FORCE(loop, reason, at, **given)
    return replace(after, errors=loop.errors), effects


def _force_red(loop: PhaseLoop, reason: str, at: str, **_: Any) -> Any:
    return _FORCE(loop, reason, at, tests_pass=True)


def _force_anything(loop: PhaseLoop, event: Any) -> Any:
    moved(loop, event, "work")
    following = PHASES[min(PHASES.index(loop.phase) + 1, len(PHASES) - 1)]
    return transitions._enter(transitions.with_error(loop, event.reason, event.at, forced=True), following, event.at)


def _no(_: PhaseLoop) -> bool:
    return False


def _need_no_approval(loop: PhaseLoop, event: Any) -> Any:
    after, effects = _FILE(replace(loop, skip_test_review=True), event)
    return replace(after, skip_test_review=loop.skip_test_review), effects


def _believe_in_any_phase(loop: PhaseLoop, event: Any) -> Any:
    return replace(loop, status=moved(loop, event, "complete")), (Finish(),)


def _complete_when_filed(loop: PhaseLoop, event: Any) -> Any:
    after, effects = _FILE(loop, event)
    if any(isinstance(effect, AskForPromise) for effect in effects):
        return replace(after, status="completed"), (Finish(),)
    return after, effects


_END, _FILE = turn.end_iteration, turn.file_receipt
_FORCE, _COMPLETE = transitions.force, transitions.complete_phase


def _handler(event: str, mutant: Any) -> tuple[Any, str, Any]:
    return machine, "_HANDLERS", {getattr(events, event): mutant}


FAULTS: tuple[Fault, ...] = (
    Fault("receipts are not verified", turn, "verify_receipt", _nothing),
    Fault("spec_test is left by force", transitions, "FOLLOWS", {("spec_test", "forced"): "deepen"}),
    Fault("plan is followed by deepen", transitions, "FOLLOWS", {("plan", "done"): "deepen"}),
    Fault("ship goes back to fix", transitions, "FOLLOWS", {("ship", "forced"): "fix"}, Setting(max_iterations=3)),
    Fault("iterations have no limit", *_handler("IterationEnded", _forget_global_limit), PATIENT),
    Fault("phases have no limit", *_handler("IterationEnded", _forget_phase_limit)),
    Fault("rounds of fixing have no limit", turn, "complete_phase", _forget_cycles),
    Fault("what is forced counts as completed", turn, "force", _count_what_was_forced),
    Fault("force is not recorded", turn, "force", _force_silently),
    Fault("test is forced while red", turn, "force", _force_red),
    Fault("a person forces what cannot be", *_handler("PhaseForced", _force_anything)),
    Fault("money has no end", phase_progress, "is_spent", _no, SPENDING),
    Fault("no person is asked about the tests", *_handler("ReceiptFiled", _need_no_approval)),
    Fault("approval is of whatever is there", turn, "UNTOUCHED", replace(receipts.UNTOUCHED, holds=bool)),
    Fault("the promise counts anywhere", *_handler("PromiseMade", _believe_in_any_phase)),
    Fault("the promise ends without proof", promise, "_objections", _nothing),
    Fault("receipts are not verified again", promise, "verify_again", _nothing),
    Fault("any agent may promise", promise, "refuse_strangers", _nothing),
    Fault("a receipt completes the loop", *_handler("ReceiptFiled", _complete_when_filed)),
    Fault("a stopped loop goes on", transitions, "STATUS", {("stopped", "work"): "running"}),
    Fault("a completed loop begins again", transitions, "STATUS", {("completed", "resume"): "running"}),
)
