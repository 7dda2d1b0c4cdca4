"""What an attempt may cost: what is left of the run's money is shared by those under way, and never given twice.

So all of them together cost no more than is allowed, wherever the client stops at the amount that it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from aotloop.core.conduct import Run
from aotloop.core.conduct.run import Attempt

_PARTS = 10_000
"""Of a dollar: less than one of them is nothing."""


class Till:
    def __init__(self, run: Run, most: float | None, costs_nothing: Callable[[Attempt], bool]) -> None:
        """`most`: for one attempt."""
        self._run = run
        self._most = most
        self._costs_nothing = costs_nothing
        self._reserved: dict[int, float] = {}
        self._known: set[int] = set()

    def reserve(self, number: int) -> float | None:
        """None: no limit."""
        limit = self._run.limits.max_cost_usd
        if limit is None:
            return self._most
        left = limit - self._run.loop.control.cost_usd - sum(self._reserved.values())
        share = max(left, 0.0) / max(self._sharing(), 1)
        self._known.add(number)
        self._reserved[number] = floor(min(share, self._most or share) * _PARTS) / _PARTS
        return self._reserved[number]

    def release(self, number: int) -> None:
        self._reserved.pop(number, None)

    def _sharing(self) -> int:
        """Those that have just been started: whatever else could start would have."""
        started = self._run.attempts.items()
        return sum(number not in self._known and not self._costs_nothing(one) for number, one in started)
