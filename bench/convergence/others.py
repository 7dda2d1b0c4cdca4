"""The policies for comparison: pipelines that take one way, and one agent that gets the same task again and again.

Where the model leaves something open, it is to their advantage: an agent that repeats the whole job keeps every
finished part, pays for its start only once in each round, forgets nothing and breaks nothing on the way.
"""

from __future__ import annotations

from bench.convergence.accounts import BUDGET, Account, Ended
from bench.convergence.jobs import Job, Part, Unit
from bench.convergence.luck import Luck


def pipeline(job: Job, luck: Luck, *, tries: int, ways: int | None) -> Ended:
    """Unit by unit, each checked: so many tries of each way, of so many ways (None: all), in order; or it gives up."""
    account, taken = Account(job), dict[int, int]()
    for unit in job.units:
        for way in range(len(unit.possible))[:ways]:
            if _tried(unit, way, luck, account, taken, tries):
                taken[unit.number] = way
                break
        else:
            return account.end(solved=False, claimed=False, units=job.share_of(taken))
    account.check(len(job.units))
    return account.end(solved=True, claimed=True, units=1.0)


def _tried(unit: Unit, way: int, luck: Luck, account: Account, taken: dict[int, int], tries: int) -> bool:
    parts = unit.parts_of(way)
    for _ in range(tries):
        if not account.can_pay(len(parts)):
            return False
        account.start()
        account.work(len(parts))
        is_done = all(luck.successes(parts)) and _can_be_done(unit, way, taken)
        if is_done or luck.claims(unit.number):
            account.check()
        if is_done:
            return True
    return False


def _can_be_done(unit: Unit, way: int, taken: dict[int, int]) -> bool:
    return unit.possible[way] and not any((needed, taken.get(needed)) in unit.spoiled_by for needed in unit.needs)


def retry_only(job: Job, luck: Luck, tries: int = BUDGET) -> Ended:
    """The first way, as often as ours would try it."""
    return pipeline(job, luck, tries=tries, ways=1)


def each_way_once(job: Job, luck: Luck) -> Ended:
    return pipeline(job, luck, tries=1, ways=None)


def first_choice_only(job: Job, luck: Luck) -> Ended:
    return pipeline(job, luck, tries=1, ways=1)


def repeat_and_believe(job: Job, luck: Luck) -> Ended:
    """Until the agent says that all is done."""
    return _Repeated(job, luck, believes=True).run()


def repeat_until_checked(job: Job, luck: Luck, *, budget: int = BUDGET) -> Ended:
    """Until the checks of all units pass; which of them fail, the agent is told each time."""
    return _Repeated(job, luck, believes=False, budget=budget).run()


class _Repeated:
    """Each round goes through the job once, with a fresh memory: an agent without a reason for a way takes any."""

    def __init__(self, job: Job, luck: Luck, *, believes: bool, budget: int = BUDGET) -> None:
        self._job, self._luck, self._believes = job, luck, believes
        self._account = Account(job, budget)
        self._there: set[Part] = set()
        self._taken: dict[int, int] = {}
        """By unit that is truly done, the way."""
        self._ticked: set[int] = set()
        """Believed to be done; truly or not."""
        self._since_start = 0

    def run(self) -> Ended:
        while True:
            self._account.start()
            self._since_start = 0
            can_go_on = all(self._visit(unit) for unit in self._job.units)
            if not self._believes:
                self._account.check(len(self._job.units))
                self._look()
            is_over = len(self._ticked) == len(self._job.units)
            if is_over or not can_go_on:
                done = self._job.share_of(unit.number for unit in self._job.units if self._holds(unit))
                return self._account.end(solved=done == 1, claimed=is_over, units=done)

    def _visit(self, unit: Unit) -> bool:
        """False: the budget is used up."""
        if unit.number in self._ticked or not self._ticked.issuperset(unit.needs):
            return True
        way = self._luck.way(unit.number, len(unit.possible))
        missing = [part for part in unit.parts_of(way) if part not in self._there]
        if not self._account.can_pay(len(missing)):
            return False
        self._account.work(len(missing))
        self._work(unit, way, missing)
        return True

    def _work(self, unit: Unit, way: int, missing: list[Part]) -> None:
        outcome = self._luck.successes(missing, before=self._since_start)
        self._since_start += len(missing)
        if _can_be_done(unit, way, self._taken):
            self._there.update(part for part, is_there in zip(missing, outcome, strict=True) if is_there)
            if all(outcome):
                self._taken[unit.number] = way
                self._ticked.add(unit.number)
                return
        spoilers = [needed for needed in unit.needs if (needed, self._taken.get(needed)) in unit.spoiled_by]
        if spoilers and self._luck.understands(unit.number):
            self._take_back(spoilers)
        elif not spoilers and self._luck.misleads(unit.number):
            self._take_back([one for one in unit.needs if len(self._job.units[one].possible) > 1][:1])
        elif self._luck.claims(unit.number):
            self._ticked.add(unit.number)

    def _take_back(self, spoilers: list[int]) -> None:
        """They are done anew, in any way; what was built on them stays."""
        for spoiler in spoilers:
            self._taken.pop(spoiler, None)
            self._ticked.discard(spoiler)
            self._there = {part for part in self._there if part[0] != spoiler}

    def _look(self) -> None:
        """What does not hold is done anew; ticked is what the checks say."""
        holding = [unit for unit in self._job.units if self._holds(unit)]
        self._taken = {unit.number: self._taken[unit.number] for unit in holding}
        self._ticked = {
            unit.number for unit in self._job.units if self._luck.passes(unit.number, truly=unit.number in self._taken)
        }

    def _holds(self, unit: Unit) -> bool:
        """What was built on a way that was exchanged later may not go together with the new one."""
        way = self._taken.get(unit.number)
        return way is not None and _can_be_done(unit, way, self._taken)
