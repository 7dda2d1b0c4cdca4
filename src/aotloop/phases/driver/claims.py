"""Claims: the only module of the driver that reports to the loop: receipts, promises, ends of turns, costs, stops.

Observers get the loop's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from aotloop.clock import now
from aotloop.core.phases import events
from aotloop.core.phases.effects import AskPerson, Enter, Warn
from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.core.phases.promise import without_promises
from aotloop.errors import IllegalEvent
from aotloop.execution import run_events, ship_events
from aotloop.execution.run_events import RunEvent
from aotloop.execution.threads import in_thread
from aotloop.phases.driver.turn_rules import failures_of
from aotloop.phases.evidence.acceptance import uncommitted
from aotloop.phases.evidence.facts import needs_tests
from aotloop.phases.project import Project
from aotloop.phases.receipts import Filed, end_turn, file_receipt, make_promise, tell
from aotloop.process.cancellation import Cancellation
from aotloop.text.phrases import listed


def stay_of(loop: PhaseLoop) -> tuple[Phase, str | None, int]:
    """Identifies one stay in a phase: the same phase may be entered again."""
    return loop.phase, loop.phase_started_at, loop.fix_review_cycles


class Claims:
    def __init__(self, project: Project, on_news: Callable[[RunEvent], None]) -> None:
        self._project = project
        self._tell = on_news

    @property
    def loop(self) -> PhaseLoop:
        return self._project.store.load()

    async def file(self, artifact: str, commit: str | None, summary: str) -> bool:
        """A receipt of the present phase, for this commit or the one that is checked out; whether it counts."""
        loop, cancellation = self.loop, Cancellation()
        work = partial(
            file_receipt,
            self._project,
            artifact=artifact,
            sha=commit,
            summary=without_promises(summary),
            failed=failures_of(loop),
            cancellation=cancellation,
        )
        filed = await in_thread(work, on_cancel=cancellation.cancel)
        self._tell(
            ship_events.ReceiptJudged(
                at=now(),
                phase=loop.phase,
                artifact=artifact,
                commit=commit,
                accepted=not filed.reasons,
                reasons=filed.reasons,
                tests=filed.run.evidence if filed.run is not None else "",
            )
        )
        self._pass_on(filed)
        return not filed.reasons

    async def is_held_up(self) -> bool:
        """Uncommitted changes of a person would make the tests of this phase worthless. This costs no turn."""
        phase = self.loop.phase
        if phase == "spec_test" or not needs_tests(phase):
            return False
        if dirt := await in_thread(partial(uncommitted, self._project)):
            self.stop(f"blocked: the acceptance tests cannot be run, as this is not committed: {listed(dirt)}")
        return bool(dirt)

    async def promise(self, text: str) -> None:
        cancellation = Cancellation()
        work = partial(make_promise, self._project, text, cancellation=cancellation)
        filed = await in_thread(work, on_cancel=cancellation.cancel)
        for reason in filed.reasons:
            self.warn(f"the promise does not count: {reason}")
        self._pass_on(filed)

    async def end_turn(self, began: PhaseLoop) -> None:
        """The turn counts, unless the loop has left the phase. `began`: the loop at the start of the turn."""
        loop = self.loop
        if loop.status != "running" or stay_of(loop) != stay_of(began):
            return
        filed = await in_thread(partial(end_turn, self._project))
        turn, most = loop.phase_iteration + 1, loop.max_phase_iterations
        self._tell(ship_events.TurnEnded(at=now(), phase=loop.phase, turn=turn, most=most))
        self._pass_on(filed)

    def warn(self, text: str) -> None:
        self._tell(run_events.Warned(at=now(), text=text))

    def failed(self, reason: str, at: str) -> None:
        """`at`: the time of the failure, which identifies it."""
        tell(self._project, events.ErrorMet(at=at, message=reason))

    def spent(self, of: str, usd: float) -> None:
        """The whole cost of this turn, or this graph, so far; it may be reported many times."""
        self._pass_on(tell(self._project, events.MoneySpent(at=now(), of=of, usd=usd)))

    def stop(self, reason: str) -> None:
        try:
            tell(self._project, events.LoopStopped(at=now(), reason=reason))
        except IllegalEvent:  # the loop is over by now
            return

    def _pass_on(self, filed: Filed) -> None:
        for event in _news(filed):
            self._tell(event)


def _news(filed: Filed) -> Iterator[RunEvent]:
    for effect in filed.effects:
        match effect:
            case Enter(phase=phase, forced=forced):
                yield ship_events.PhaseEntered(at=now(), phase=phase, forced=forced)
            case AskPerson(artifact=artifact):
                yield run_events.Warned(
                    at=now(), text=f"a person has to read the acceptance tests, and agree: {artifact}"
                )
            case Warn(text=text):
                yield run_events.Warned(at=now(), text=text)
