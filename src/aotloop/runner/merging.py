"""A result on its way to the branch: merged off-tree, checked again if the branch moved, then landed in one step.

It lands while the state file is locked and says that the result is still wanted: no request can come in between.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Literal

from msgspec.structs import replace

from aotloop.core import effects
from aotloop.core.checklist import check_of
from aotloop.core.conduct import reports
from aotloop.core.model import Atom
from aotloop.core.turns import most_in_vain
from aotloop.errors import AotError, refusal
from aotloop.runner import news
from aotloop.runner.branch import Branch, Clash, Landing, Ready
from aotloop.runner.checks import Found
from aotloop.runner.clock import now
from aotloop.runner.ledger import Exchanged, Item
from aotloop.runner.made import Left
from aotloop.runner.means import Means
from aotloop.runner.threads import in_thread
from aotloop.runner.warm_starts import may_go_on
from aotloop.runner.work import Work

_BUSY_PATIENCE, _PAUSE = 5.0, 0.2
"""Seconds to wait for a person's git, without keeping anybody else from the state file."""


class Merging:
    def __init__(self, means: Means, branch: Branch, put: Callable[[Item], None]) -> None:
        self._means = means
        self._branch = branch
        self._put = put

    async def merge(self, effect: effects.Integrate, atom: Atom, work: Work) -> list[Item]:
        """What landed has been reported by then."""
        try:
            report = await self._merge(effect.attempt, atom, work)
        except (AotError, OSError) as error:
            report = reports.MergeBlocked(at=now(), attempt=effect.attempt, reason=refusal(error).message)
        match report:
            case None:
                return []
            case reports.Merged(commit=commit):
                return [partial(self._settled, report, merged(effect, commit))]
            case reports.MergeRefused(reason=reason):
                return [partial(self._refused, report, _not_merged(effect, "refused", reason))]
            case reports.MergeConflicted(others=others):
                reason = f"with what {', '.join(others) or 'others'} contributed"
                moved = [reports.BranchMoved(at=now())] if await in_thread(self._branch.was_moved_by_others) else []
                return [*moved, partial(self._settled, report, _not_merged(effect, "conflict", reason))]
            case reports.MergeBlocked(reason=reason):
                if effect.attempt not in self._means.run.blocked:  # it is tried again and again, and told once
                    self._means.tell(_not_merged(effect, "blocked", reason))
        return [report]

    async def _merge(self, number: int, atom: Atom, work: Work) -> reports.OfAttempt | None:
        if work.attempt != number:  # of a run that died, perhaps just after it had landed
            landed = await in_thread(partial(self._branch.landed_before, work, self._means.run_id))
            if landed is not None:
                return reports.Merged(at=now(), attempt=number, commit=landed)
        deadline = time.monotonic() + _BUSY_PATIENCE
        while True:
            ready = await in_thread(partial(self._branch.prepare, work))
            if isinstance(ready, Clash):
                return reports.MergeConflicted(at=now(), attempt=number, others=ready.atoms)
            found = await self._check(ready, atom)
            if found.problem is not None:
                reason = f"together with what was merged meanwhile, {found.problem}"
                progress = await self._keep(number, atom, Left(work=replace(work, base=ready.head), found=found))
                return reports.MergeRefused(at=now(), attempt=number, reason=reason, progress=progress)
            landing = await self._land(number, atom.id, ready)
            if landing is None or landing.result == "landed":
                return None
            if landing.result == "blocked" and (not landing.is_busy or time.monotonic() > deadline):
                return reports.MergeBlocked(at=now(), attempt=number, reason=landing.reason)
            await asyncio.sleep(_PAUSE if landing.is_busy else 0)

    async def _check(self, ready: Ready, atom: Atom) -> Found:
        objective = self._means.run.loop.objective
        if not ready.needs_check or check_of(atom, objective.base_case) is None:
            return Found()
        places = self._means.places
        place = await places.take(ready.commit)
        try:
            return await self._means.checks.found(atom, place.cwd, objective)
        finally:
            await places.leave(place)

    async def _keep(self, number: int, atom: Atom, left: Left) -> bool:
        """Whether the next attempt starts from it. Its record says so before anybody is told that it was refused."""
        run, warm_starts = self._means.run, self._means.attempts.warm_starts
        is_of_use = may_go_on(run.board, atom) and warm_starts.can_see_progress(atom, run.loop.objective)
        kept = await warm_starts.kept(atom, run.loop.objective, left if is_of_use else None, most_in_vain(run.loop))
        self._means.records.note(number, kept)
        return kept.commit is not None

    async def _land(self, number: int, atom: str, ready: Ready) -> Landing | None:
        """None: it is not wanted any more."""
        loop = asyncio.get_running_loop()
        landed: asyncio.Future[Landing | None] = loop.create_future()
        run = self._means.run

        def deed(exchanged: Exchanged) -> reports.Report | None:
            is_wanted = run.merging == number and not run.finished
            landing = self._branch.land(ready) if is_wanted else None
            loop.call_soon_threadsafe(_settle, landed, landing)
            if landing is None or landing.result != "landed":
                return None
            report = reports.Merged(at=now(), attempt=number, commit=landing.commit)
            told = news.Merged(at=now(), atom=atom, attempt=number, commit=landing.commit)
            return self._settled(report, told, exchanged)

        self._put(deed)
        return await landed

    def _settled(self, report: reports.OfAttempt, told: news.News, exchanged: Exchanged) -> reports.Report:
        exchanged.afterwards.append(partial(self._means.records.use, report.attempt))
        exchanged.afterwards.append(partial(self._means.tell, told))
        return report

    def _refused(self, report: reports.OfAttempt, told: news.News, exchanged: Exchanged) -> reports.Report:
        """It is over before the file says so: a run that takes it up again would count the same failure twice."""
        self._means.records.use(report.attempt)
        return self._settled(report, told, exchanged)

    async def take_back(self, atoms: tuple[str, ...], why: str) -> list[Item]:
        """`why` they were given up: it goes into the history."""
        try:
            problem = await in_thread(partial(self._branch.take_back, atoms, self._means.run_id, why))
        except (AotError, OSError) as error:
            problem = refusal(error).message
        self._means.tell(news.TakenBack(at=now(), atoms=atoms, problem=problem))
        return [reports.Reverted(at=now(), problem=problem)]


def merged(effect: effects.Integrate, commit: str | None) -> news.News:
    return news.Merged(at=now(), atom=effect.atom, attempt=effect.attempt, commit=commit)


def _not_merged(effect: effects.Integrate, why: Literal["refused", "conflict", "blocked"], reason: str) -> news.News:
    return news.NotMerged(at=now(), atom=effect.atom, attempt=effect.attempt, why=why, reason=reason)


def _settle(future: asyncio.Future[Landing | None], landing: Landing | None) -> None:
    with suppress(asyncio.InvalidStateError):  # whoever waited was cancelled
        future.set_result(landing)
