"""What a run tells the loop, and what it then tells whoever watches: receipts, promises, the ends of turns, stops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from aotloop.core.phases import events
from aotloop.core.phases.effects import AskPerson, Enter, Warn
from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.errors import IllegalEvent
from aotloop.phases.acceptance import uncommitted
from aotloop.phases.filing import Filed, end_turn, file_receipt, make_promise, now, tell
from aotloop.phases.ground import Ground
from aotloop.phases.looking import needs_tests
from aotloop.runner import news
from aotloop.runner.news import News
from aotloop.runner.threads import in_thread
from aotloop.shipping.briefing import failures_of
from aotloop.verify.cancellation import Cancellation

_SHOWN = 5
_PROMISE = re.compile(r"<promise>(.*?)</promise>", re.DOTALL)


def promise_in(summary: str) -> str | None:
    found = _PROMISE.search(summary)
    return found[1].strip() if found is not None else None


def stay_of(loop: PhaseLoop) -> tuple[Phase, str | None, int]:
    """Which stay in a phase it is; the same phase may be entered again."""
    return loop.phase, loop.phase_started_at, loop.fix_review_cycles


class Claims:
    def __init__(self, ground: Ground, on_news: Callable[[News], None]) -> None:
        self._ground = ground
        self._tell = on_news

    @property
    def loop(self) -> PhaseLoop:
        return self._ground.store.load()

    async def file(self, artifact: str, commit: str | None, summary: str) -> None:
        """A receipt of the present phase, for this commit or what is checked out."""
        loop, cancellation = self.loop, Cancellation()
        work = partial(
            file_receipt,
            self._ground,
            artifact=artifact,
            sha=commit,
            summary=_PROMISE.sub("", summary),
            failed=failures_of(loop),
            cancellation=cancellation,
        )
        filed = await in_thread(work, on_cancel=cancellation.cancel)
        self._tell(
            news.ReceiptJudged(
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

    async def is_held_up(self) -> bool:
        """By uncommitted changes of a person, with which the tests of this phase would say nothing. No turn is lost."""
        phase = self.loop.phase
        if phase == "spec_test" or not needs_tests(phase):
            return False
        if dirt := await in_thread(partial(uncommitted, self._ground)):
            shown = ", ".join(dirt[:_SHOWN]) + (" …" if len(dirt) > _SHOWN else "")
            self.stop(f"blocked: the acceptance tests cannot be run, as this is not committed: {shown}")
        return bool(dirt)

    async def promise(self, text: str) -> None:
        cancellation = Cancellation()
        work = partial(make_promise, self._ground, text, cancellation=cancellation)
        filed = await in_thread(work, on_cancel=cancellation.cancel)
        for reason in filed.reasons:
            self.warn(f"the promise does not count: {reason}")
        self._pass_on(filed)

    async def end_turn(self, began: PhaseLoop) -> None:
        """It counts, unless the phase was left by it. `began`: the loop as it was then."""
        loop = self.loop
        if loop.status != "running" or stay_of(loop) != stay_of(began):
            return
        filed = await in_thread(partial(end_turn, self._ground))
        turn, most = loop.phase_iteration + 1, loop.max_phase_iterations
        self._tell(news.TurnEnded(at=now(), phase=loop.phase, turn=turn, most=most))
        self._pass_on(filed)

    def warn(self, text: str) -> None:
        self._tell(news.Warned(at=now(), text=text))

    def failed(self, reason: str, at: str) -> None:
        """`at`: when it did, which tells it from others."""
        tell(self._ground, events.ErrorMet(at=at, message=reason))

    def spent(self, of: str, usd: float) -> None:
        """All that this turn, or this graph, has cost so far; it may be told as often as one likes."""
        self._pass_on(tell(self._ground, events.MoneySpent(at=now(), of=of, usd=usd)))

    def stop(self, reason: str) -> None:
        try:
            tell(self._ground, events.LoopStopped(at=now(), reason=reason))
        except IllegalEvent:  # it is over by now
            return

    def _pass_on(self, filed: Filed) -> None:
        for one in _news(filed):
            self._tell(one)


def _news(filed: Filed) -> Iterator[News]:
    for effect in filed.effects:
        match effect:
            case Enter(phase=phase, forced=forced):
                yield news.PhaseEntered(at=now(), phase=phase, forced=forced)
            case AskPerson(artifact=artifact):
                yield news.Warned(at=now(), text=f"a person has to read the acceptance tests, and agree: {artifact}")
            case Warn(text=text):
                yield news.Warned(at=now(), text=text)
