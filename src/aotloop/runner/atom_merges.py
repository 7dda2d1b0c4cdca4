"""Merges of results: merged off-tree, checked again if the branch moved, then landed in one step.

A result lands while the state file is locked and still wants the result: no request can come in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Literal

from msgspec.structs import replace

from aotloop.clock import now
from aotloop.core import effects
from aotloop.core.checks.checklist import check_of
from aotloop.core.model import Atom
from aotloop.core.policy.turns import most_in_vain
from aotloop.core.scheduler import reports
from aotloop.errors import AotError, refusal
from aotloop.execution import run_events
from aotloop.execution.attempts.attempt_result import Left
from aotloop.execution.checker import CheckOrder
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.integrator import BranchSteps, integrate
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed, Moved, Ready, Refused, Unwanted
from aotloop.execution.journals.records import Work
from aotloop.execution.threads import in_thread
from aotloop.runner.atom_attempts import may_go_on
from aotloop.runner.ledger import Exchanged, Item
from aotloop.runner.run_context import RunContext
from aotloop.text.phrases import listed

Step = Landed | Moved | Blocked | Unwanted
PutLand = Callable[[int, str, str, Callable[[], Step]], None]
"""The number, the atom, and the machine on which the merge was checked."""


class AtomMerges:
    def __init__(self, context: RunContext, branch: Branch, put: Callable[[Item], None]) -> None:
        self._context = context
        self._branch = branch
        self._put = put

    async def merge(self, effect: effects.Integrate, atom: Atom, work: Work) -> list[Item]:
        """A result that landed under the lock has been reported by then."""
        number, steps = effect.attempt, _AtomSteps(self._context, self._branch, work, effect.attempt, atom, self._deed)
        name = self._name_of(effect)
        try:
            outcome = await integrate(steps)
        except (AotError, OSError) as error:
            outcome = Blocked(refusal(error).message)
        match outcome:
            case Landed(commit=commit) if not steps.has_reported:
                return [partial(self._settled, _merged(number, commit), merged(effect, commit, name))]
            case Refused(reason=reason):
                progress = await self._keep(number, atom, _left(work, outcome))
                report = reports.MergeRefused(at=now(), attempt=number, reason=reason, progress=progress)
                return [partial(self._refused, report, _not_merged(effect, "refused", reason, name))]
            case Conflicting(names=names):
                return await self._conflicted(effect, names)
            case Blocked(reason=reason):
                if number not in self._context.run.blocked:  # it is tried many times, and reported once
                    self._context.tell(_not_merged(effect, "blocked", reason, name))
                return [reports.MergeBlocked(at=now(), attempt=number, reason=reason)]
        return []

    def _name_of(self, effect: effects.Integrate) -> str:
        return self._context.name_of(effect.atom, effect.attempt)

    async def _conflicted(self, effect: effects.Integrate, names: tuple[str, ...]) -> list[Item]:
        reason = f"with what {', '.join(names) or 'others'} contributed"
        report = reports.MergeConflicted(at=now(), attempt=effect.attempt, others=names)
        moved = [reports.BranchMoved(at=now())] if await in_thread(self._branch.was_moved_by_others) else []
        return [*moved, partial(self._settled, report, _not_merged(effect, "conflict", reason, self._name_of(effect)))]

    async def _keep(self, number: int, atom: Atom, left: Left) -> bool:
        """Whether the next attempt starts from it. The record says so before the run hears of the refusal."""
        run, warm_starts = self._context.run, self._context.attempts.warm_starts
        check = check_of(atom, run.loop.objective.base_case)
        is_of_use = may_go_on(run.board, atom) and warm_starts.can_see_progress(check)
        most = most_in_vain(run.loop, atom.failures)
        kept = await warm_starts.kept(check, left if is_of_use else None, most)
        self._context.unmerged.note(number, kept)
        return kept.commit is not None

    def _deed(self, number: int, atom: str, host: str, land: Callable[[], Step]) -> None:
        """Lands it within the next exchange, which also reports it."""

        def deed(exchanged: Exchanged) -> reports.Report | None:
            landed = land()
            if not isinstance(landed, Landed):
                return None
            name = self._context.name_of(atom, number)
            event = run_events.Merged(
                at=now(), atom=atom, attempt=number, commit=landed.commit, name=name, checked_on=host
            )
            return self._settled(_merged(number, landed.commit), event, exchanged)

        self._put(deed)

    def _settled(self, report: reports.OfAttempt, event: run_events.RunEvent, exchanged: Exchanged) -> reports.Report:
        exchanged.afterwards.append(partial(self._context.unmerged.use, report.attempt))
        exchanged.afterwards.append(partial(self._context.tell, event))
        return report

    def _refused(self, report: reports.OfAttempt, event: run_events.RunEvent, exchanged: Exchanged) -> reports.Report:
        """The result is used up before the file says so: else a later run would count the same failure twice."""
        self._context.unmerged.use(report.attempt)
        return self._settled(report, event, exchanged)

    async def take_back(self, atoms: tuple[str, ...], why: str) -> list[Item]:
        """`why` the atoms were given up: the text goes into the history."""
        try:
            done = await in_thread(partial(self._branch.take_back, atoms, self._context.run_id, why))
            problem = _problem(done)
        except (AotError, OSError) as error:
            problem = refusal(error).message
        self._context.tell(run_events.TakenBack(at=now(), atoms=atoms, problem=problem))
        return [reports.Reverted(at=now(), problem=problem)]


class _AtomSteps(BranchSteps):
    """The steps of one result: its atom's check decides, and it lands under the lock of the ledger."""

    def __init__(
        self, context: RunContext, branch: Branch, work: Work, number: int, atom: Atom, put_land: PutLand
    ) -> None:
        super().__init__(branch, work, context.run_id)
        self._context = context
        self._number = number
        self._atom = atom
        self._put_land = put_land
        self.has_reported = False
        self.checked_on = ""
        """The machine on which the merge was checked; empty: this one, or it needed no check."""

    async def prepare(self) -> Ready | Landed | Conflicting:
        is_of_this_run = self.work.attempt == self._number  # else a run that died may have landed it
        return await in_thread(partial(self.branch.prepare, self.work)) if is_of_this_run else await super().prepare()

    async def check(self, ready: Ready) -> Refused | None:
        objective = self._context.run.loop.objective
        check = check_of(self._atom, objective.base_case)
        if not ready.needs_check or check is None:
            return None
        order = CheckOrder(
            check=check,
            commit=ready.commit,
            task=self._atom.id,
            attempt=self.work.attempt or self._number,
            epoch=self._context.run.loop.control.epoch,
            judge=self._context.judge(objective),
        )
        checked = await self._context.checks.check(order)
        self.checked_on = checked.host
        problem = checked.found.problem
        if problem is None:
            return None
        where = f" (checked on {checked.host})" if checked.host else ""
        reason = f"together with what was merged meanwhile, {problem}{where}"
        return Refused(reason=reason, found=checked.found, head=ready.head)

    async def land(self, ready: Ready) -> Step:
        loop = asyncio.get_running_loop()
        landed: asyncio.Future[Step] = loop.create_future()
        run = self._context.run

        def land() -> Step:
            is_wanted = run.merging == self._number and not run.finished
            done = self.branch.land(ready) if is_wanted else Unwanted()
            self.has_reported = self.has_reported or isinstance(done, Landed)
            loop.call_soon_threadsafe(_settle, landed, done)
            return done

        self._put_land(self._number, self._atom.id, self.checked_on, land)
        return await landed


def _left(work: Work, refused: Refused) -> Left:
    return Left(work=replace(work, base=refused.head), found=refused.found)


def _problem(done: Landed | Conflicting | Blocked | None) -> str | None:
    """Why the work could not be reverted; None: the branch has none of it any more."""
    match done:
        case Conflicting(paths=paths, names=names):
            return f"{listed(paths)} changed since" + (f", by {', '.join(names)}" if names else "")
        case Blocked(reason=reason):
            return reason
    return None


def _merged(number: int, commit: str) -> reports.Merged:
    return reports.Merged(at=now(), attempt=number, commit=commit)


def merged(effect: effects.Integrate, commit: str | None, name: str) -> run_events.RunEvent:
    return run_events.Merged(at=now(), atom=effect.atom, attempt=effect.attempt, commit=commit, name=name)


def _not_merged(
    effect: effects.Integrate, why: Literal["refused", "conflict", "blocked"], reason: str, name: str
) -> run_events.RunEvent:
    return run_events.NotMerged(at=now(), atom=effect.atom, attempt=effect.attempt, why=why, reason=reason, name=name)


def _settle(future: asyncio.Future[Step], landed: Step) -> None:
    with suppress(asyncio.InvalidStateError):  # the task that waited was cancelled
        future.set_result(landed)
