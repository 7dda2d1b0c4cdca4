"""Attempts as a run sees them: what they are told, what they cost, and how long one has to wait for the next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from aotloop.core import effects, events
from aotloop.core.conduct import reports
from aotloop.core.context import context_of
from aotloop.core.model import Atom
from aotloop.runner import news
from aotloop.runner.attempt import Job, Made
from aotloop.runner.clock import now
from aotloop.runner.ledger import Exchanged, Item
from aotloop.runner.means import Means

_FIRST_WAIT, _LONGEST_WAIT = 15.0, 900.0
_LONGEST_TOLD = 6 * 3600.0
"""Seconds. A service may ask for hours; what asks for more is asked again then."""


class Attempting:
    def __init__(self, means: Means) -> None:
        self._means = means
        self._run = means.run
        self._tell = means.tell

    def job(self, start: effects.StartAttempt) -> Job:
        """To be made before anything else happens to the loop."""
        return Job(start=start, context=context_of(self._run.board, start.atom), run_id=self._means.run_id)

    async def attempt(self, job: Job, wait: Callable[[str, float | None], None]) -> list[Item]:
        """`wait` is told of an atom that cannot be tried now."""
        start, atom = job.start, job.context.atom
        self._tell(self._began(job))
        try:
            made = await self._means.attempts.make(job)
        except asyncio.CancelledError:
            self._tell(news.AttemptEnded(at=now(), atom=atom.id, attempt=start.attempt, outcome="cancelled"))
            raise
        self._tell_ended(made, atom)
        if made.record is not None:
            self._means.records.put(start.attempt, made.record)
        if isinstance(made.report, reports.MustWait) and not made.report.for_good:
            wait(atom.id, made.retry_after)
        if made.cost_usd is None or made.cost_usd <= 0:
            return [made.report]
        return [partial(self._spend, made, made.cost_usd), made.report]

    def _spend(self, made: Made, usd: float, exchanged: Exchanged) -> reports.Report:
        """What it cost is noted together with what came of it; the record then says that it was."""
        exchanged.afterwards.append(partial(self._means.records.account, made.report.attempt))
        return reports.Told(at=now(), event=events.Spent(usd=usd))

    async def wait(self, atom: str, after: float | None) -> list[Item]:
        """As long as was told; else longer each time."""
        waits = self._run.waits.get(atom, 0)
        told = min(after, _LONGEST_TOLD) if after is not None else min(_FIRST_WAIT * 2**waits, _LONGEST_WAIT)
        await asyncio.sleep(max(told, 0.0))
        return [reports.WaitOver(at=now(), atom=atom)]

    # --- news ----------------------------------------------------------------------------------------------------

    def _began(self, job: Job) -> news.News:
        start, atom, journal = job.start, job.context.atom, self._means.journal
        return news.AttemptBegan(
            at=now(),
            atom=atom.id,
            attempt=start.attempt,
            role=start.role,
            agent=self._means.crew.name_for(atom, start.role) or "nobody",
            description=atom.description,
            folder=str(journal.attempt_folder(atom.id, start.attempt).relative_to(journal.root)),
        )

    def _tell_ended(self, made: Made, atom: Atom) -> None:
        for note in made.notes:
            self._tell(news.Warned(at=now(), atom=atom.id, text=note))
        self._tell(
            news.AttemptEnded(
                at=now(),
                atom=atom.id,
                attempt=made.report.attempt,
                outcome=made.outcome,
                summary=made.summary,
                seconds=round(made.seconds, 3),
                cost_usd=made.cost_usd,
            )
        )
