"""Warm starts: the next attempt starts from the files of a failed one if more of the check held there.

More means: more than at the start of the failed attempt. After a number of attempts in a row without progress
(`core.policy.turns`), and in every doubt, the next one starts clean.

The record of the failed attempt says where the next one starts; the files are kept in the repository, on no branch. If
the record is lost, or contradicts the repository, the next attempt starts clean.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from aotloop.core.checks.checklist import Node, leaves
from aotloop.execution.attempts.attempt_result import Left
from aotloop.execution.checker import CheckOrder, Checks
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.journals.journal import Journal
from aotloop.execution.journals.records import Kept, Work
from aotloop.execution.task import Task
from aotloop.execution.threads import in_thread
from aotloop.execution.verification import Found
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut

_LONGEST_EVIDENCE = 300
_MOST_REMEMBERED = 100


class WarmStarts:
    def __init__(self, isolation: Isolation, checks: Checks, journal: Journal) -> None:
        self._isolation = isolation
        self._checks = checks
        self._journal = journal
        self._held_at: dict[tuple[str | None, str], frozenset[str]] = {}
        """By commit and check."""

    async def start(self, task: Task) -> Kept | None:
        """The earlier work from which this attempt starts; None: it starts clean."""
        if task.start is not None:
            return task.start
        if task.warm_start.is_allowed and task.failures and self.can_see_progress(task.check):
            kept = await in_thread(partial(self._journal.kept, task.name, task.run_id))
            return kept if kept is not None and kept.commit is not None else None
        return None

    def can_see_progress(self, check: Node | None) -> bool:
        """A check with one part holds or fails as a whole."""
        return self._isolation.branch is not None and check is not None and len(list(leaves(check))) > 1

    async def left(self, task: Task, start: Kept | None, work: Work | None, found: Found | None = None) -> Left | None:
        """The files of a failed attempt; None: the next one starts clean. `found`: if it was checked already."""
        is_of_use = task.warm_start.is_allowed and self.can_see_progress(task.check)
        if not is_of_use or task.check is None or work is None or work.commit is None:
            return None
        if found is None:
            found = await self._found(_order(task, task.check, work))
        return Left(work=work, found=found, start=start)

    async def kept(self, check: Node | None, left: Left | None, most_in_vain: int) -> Kept:
        """The start of the next attempt. The place of the failed one is free by now."""
        if left is None or check is None:
            return Kept()
        start, held = left.start or Kept(), set(left.found.holding)
        if held.difference(start.held):
            before = await self._held(check, left.work) | set(start.held)
            if held - before and len(held) > len(before):
                failing = {name: cut(plain(why), _LONGEST_EVIDENCE) for name, why in left.found.failing.items()}
                attempt = left.work.attempt
                return Kept(commit=left.work.commit, attempt=attempt, held=left.found.holding, failing=failing)
        if start.commit is None or start.in_vain + 1 >= most_in_vain:
            return Kept()
        return replace(start, in_vain=start.in_vain + 1)

    async def _held(self, check: Node, work: Work) -> frozenset[str]:
        """The parts that hold without this attempt: checked once for each commit."""
        key = (work.base, repr(check))
        if key not in self._held_at:
            found = await self._found(CheckOrder(check=check, commit=work.base, attempt=work.attempt))
            while len(self._held_at) >= _MOST_REMEMBERED:
                del self._held_at[next(iter(self._held_at))]
            self._held_at[key] = frozenset(found.holding)
        return self._held_at[key]

    async def _found(self, order: CheckOrder) -> Found:
        return (await self._checks.check(order)).found


def _order(task: Task, check: Node, work: Work) -> CheckOrder:
    return CheckOrder(check=check, commit=work.commit, task=task.name, attempt=task.number, epoch=task.epoch)
