"""Accounts: attempts, of which each policy has the same number, their cost, and how a job ended.

Each part worked at is an attempt, and so is each probe. Costs are in units of the work at one part.
"""

from __future__ import annotations

import msgspec

from bench.convergence.jobs import Job

BUDGET = 10
"""Attempts for each part of a job."""
PART, START, PROBE, CHECK = 1.0, 0.2, 0.3, 0.05
"""Work at a part; an agent starts and reads itself in; a probe, its start included; the check of one unit."""

UNPAID = "the budget is used up"


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    solved: bool
    """Truly."""
    claimed: bool
    attempts: int
    cost: float
    """As a multiple of the least work that any policy has to do, one attempt for each part; so is the time."""
    time: float
    units: float = 0.0
    """The share of units that is truly done."""
    reason: str = ""
    """Why it ended, of ours."""

    @property
    def is_blocked(self) -> bool:
        """It was given up as hopeless, not for want of a budget."""
        return self.reason.startswith("blocked:") and UNPAID not in self.reason

    @property
    def is_false(self) -> bool:
        return self.claimed and not self.solved


class Account:
    def __init__(self, job: Job, budget: int = BUDGET) -> None:
        self._least = job.least
        self._left = budget * job.least
        self._attempts, self._cost = 0, 0.0

    def can_pay(self, attempts: int) -> bool:
        return attempts <= self._left - self._attempts

    def start(self) -> None:
        self._cost += START

    def work(self, parts: int) -> None:
        self._attempts += parts
        self._cost += PART * parts

    def probe(self) -> None:
        self._attempts += 1
        self._cost += PROBE

    def check(self, units: int = 1) -> None:
        self._cost += CHECK * units

    def end(
        self, *, solved: bool, claimed: bool, units: float = 0.0, time: float | None = None, reason: str = ""
    ) -> Ended:
        """An agent that works alone needs as much time as work."""
        taken = self._attempts if time is None else time
        return Ended(
            solved=solved,
            claimed=claimed,
            attempts=self._attempts,
            cost=self._cost / self._least,
            time=taken / self._least,
            units=units,
            reason=reason,
        )
