"""Whether a run gets anywhere for what it spends: where half of that is gone with nothing new, a person should know.

It is told once in a run, and nothing waits for an answer. New is an atom that is resolved for the first time in this
run, or a verdict with fewer failing items than any before. A person's correction counts as a new start.
"""

from __future__ import annotations

from itertools import islice

from aotloop.core.conduct import Run
from aotloop.core.graph import Graph
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop
from aotloop.runner.clock import now
from aotloop.runner.news import HalfSpent

MOST_NAMED = 3


class Headway:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._resolved = {atom.id for atom in run.loop.atoms if atom.status == "resolved"}
        self._is_told = False
        self._tried, self._won, self._epoch = 0, 0, 0
        self._usd, self._fewest = 0.0, float("inf")
        self._start_anew(run.loop)

    def after(self, loop: Loop) -> HalfSpent | None:
        """What there is to tell, now that the loop has come so far."""
        if self._is_new(loop):
            self._start_anew(loop)
        if self._is_told or self._run.ending is not None or self._run.finished:
            return None
        spent, left = loop.control.tried - self._tried, attempts_left(loop, self._run.limits)
        if not left or not (0 < left <= spent or self._is_half_of_the_money(loop)):
            return None
        self._is_told = True
        usd = round(loop.control.cost_usd - self._usd, 6)
        return HalfSpent(at=now(), attempts=spent, more=left, cost_usd=usd, atoms=_worst(loop))

    def _is_new(self, loop: Loop) -> bool:
        # Results are kept in the order in which they came: looking at all atoms each time would cost too much.
        won = max(loop.control.won - self._won, 0)
        resolved = {*islice(reversed(loop.bindings), won)} - self._resolved
        self._won = loop.control.won
        self._resolved |= resolved
        return bool(resolved) or loop.control.epoch != self._epoch or _fewest_failing(loop) < self._fewest

    def _is_half_of_the_money(self, loop: Loop) -> bool:
        limit, spent = self._run.limits.max_cost_usd, loop.control.cost_usd
        return limit is not None and spent - self._usd >= limit - spent > 0

    def _start_anew(self, loop: Loop) -> None:
        control = loop.control
        self._won = control.won
        self._tried, self._usd, self._epoch = control.tried, control.cost_usd, control.epoch
        self._fewest = _fewest_failing(loop)


def _fewest_failing(loop: Loop) -> float:
    verdict = loop.control.verdict
    return verdict.fewest_failing if verdict is not None and verdict.fewest_failing is not None else float("inf")


def _worst(loop: Loop) -> tuple[str, ...]:
    """Those that are not resolved and have failed most."""
    graph = Graph(loop)
    failed = [one for one in graph.unresolved() if graph.atoms[one].failures]
    return tuple(sorted(failed, key=lambda one: -graph.atoms[one].failures)[:MOST_NAMED])
