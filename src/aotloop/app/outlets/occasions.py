"""On which occasions a person gets a message: pure, one message for each occasion, made from the events of a run."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.config.outlet_settings import Occasion
from aotloop.execution import run_events, ship_events
from aotloop.text.phrases import counted, dollars

NEAR = 0.8
"""This share of a limit is near."""
_NEEDS = ("blocked", "exhausted", "stalled")
"""Ends of a run after which only a person can help."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    occasion: Occasion
    title: str
    text: str


class Occasions:
    def __init__(self, failures: int) -> None:
        self._most_failures = failures
        self._failures = 0
        self._attempts = 0
        self._most_attempts: int | None = None
        self._cost = 0.0
        self._most_cost: float | None = None
        self._told: set[str] = set()
        self.is_part = False
        """The run is part of a feature: the end of the feature is reported instead."""

    def of(self, event: run_events.RunEvent) -> Iterator[Message]:
        match event:
            case run_events.RunBegan():
                self._most_attempts, self._most_cost = event.attempts_at_most, event.max_cost_usd
            case run_events.AttemptEnded():
                yield from self._ended(event)
            case run_events.Merged() | run_events.AtomResolved():
                self._failures = 0
            case run_events.HalfSpent():
                text = f"No progress for {counted(event.attempts, 'attempt')}; at most {event.more:,} more."
                yield from self._once("half", "limit_near", "half of the limits is spent without progress", text)
            case run_events.NotMerged(why="blocked"):
                yield from self._once("merge", "needs_person", "a result waits for you", event.reason)
            case run_events.RunEnded() if not self.is_part:
                yield self._end(event)
            case ship_events.ShipEnded():
                yield from self._shipped(event)

    def spent(self, usd: float) -> Iterator[Message]:
        """What the loop has cost so far, earlier runs included."""
        self._cost = usd
        if self._most_cost and usd >= NEAR * self._most_cost:
            text = f"{dollars(usd)} of {dollars(self._most_cost)} are spent."
            yield from self._once("cost", "limit_near", "the limit of cost is near", text)

    def _ended(self, event: run_events.AttemptEnded) -> Iterator[Message]:
        self._attempts += 1
        most = self._most_attempts
        if most is not None and most >= 5 and self._attempts >= NEAR * most:
            text = f"{self._attempts} of at most {most} attempts of this run are made."
            yield from self._once("attempts", "limit_near", "the limit of attempts is near", text)
        if event.outcome in ("failed", "garbage", "timed_out", "crashed"):
            self._failures += 1
            if self._failures == self._most_failures:
                text = f"The last one: {event.name or event.atom}: {event.summary}"
                yield Message(occasion="failures", title=f"{self._failures} attempts in a row failed", text=text)

    def _end(self, event: run_events.RunEnded) -> Message:
        spent = f" {dollars(event.cost_usd)} in all." if event.cost_usd else ""
        if event.status == "completed":
            return Message(occasion="finished", title="the loop is complete", text=f"The base case holds.{spent}")
        reason = event.reason or "no reason is known"
        if reason.partition(":")[0] in _NEEDS:
            return Message(occasion="needs_person", title="the loop needs you", text=f"{reason}.{spent}")
        return Message(occasion="stopped", title="the loop stopped", text=f"{reason}.{spent}")

    def _shipped(self, event: ship_events.ShipEnded) -> Iterator[Message]:
        if event.status == "waiting":
            text = "Its acceptance tests wait for your approval: `aot ship`."
            yield Message(occasion="needs_person", title="the feature needs you", text=text)
        elif event.status == "completed":
            yield Message(occasion="finished", title="the feature is shipped", text="All phases have their receipts.")
        elif event.status == "stopped":
            yield Message(occasion="stopped", title="the feature stopped", text=event.reason or "no reason is known")

    def _once(self, key: str, occasion: Occasion, title: str, text: str) -> Iterator[Message]:
        if key not in self._told:
            self._told.add(key)
            yield Message(occasion=occasion, title=title, text=text)
