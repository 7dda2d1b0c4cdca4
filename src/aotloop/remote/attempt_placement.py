"""Where an attempt is made, if several places could: the longest work first, to the place where it ends first.

A place is this machine, or a queue of workers. What is known of it is measured: how long an order waits there, and how
much faster or slower work is than expected. A queue without workers gets nothing that another place can do.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec

from aotloop.config.remote_settings import LOCAL

FAR_WAIT = 1.0
"""Seconds that an order to another machine is thought to wait, before any was measured."""

_FIRST_LENGTH = 60.0
"""Seconds of an attempt, before any was measured."""
_WEIGHT = 0.4
"""Of the latest measurement."""
_HALF_LIFE = 600.0
"""Seconds after which a long wait counts half: a queue that was slow is tried again."""
_OVERDUE = 0.25
"""What takes longer than expected is expected to take so much of its time in addition."""
_NEWS, _GATHER, _ASK = 10.0, 0.01, 3.0
"""Seconds: how long the number of workers counts, how long to wait for other jobs of the same moment, and for it."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    seconds: float
    """Expected, at a usual place."""
    places: tuple[str, ...]
    is_guess: bool = False
    """Nothing is known of its length."""


class Place:
    """What is known of a place."""

    def __init__(self, name: str, slots: int | None) -> None:
        self.name = name
        self.slots = slots
        """None: as many as there are attempts."""
        self.takers: int | None = None
        """How many workers there are; None: unknown."""
        self.pace = 1.0
        self._wait = 0.0 if name == LOCAL else FAR_WAIT
        self._measured = -math.inf
        self.running: dict[str, tuple[float, float]] = {}
        """By job: when it began, and its expected length."""

    def wait_at(self, now: float) -> float:
        usual = 0.0 if self.name == LOCAL else FAR_WAIT
        fading: float = 0.5 ** max((now - self._measured) / _HALF_LIFE, 0.0)
        return usual + (self._wait - usual) * fading

    def measured(self, now: float, wait: float, pace: float | None) -> None:
        """`pace` None: it came to nothing, and only the wait is known."""
        self._wait = (1 - _WEIGHT) * self.wait_at(now) + _WEIGHT * max(wait, 0.0)
        self._measured = now
        if pace is not None:
            self.pace = (1 - _WEIGHT) * self.pace + _WEIGHT * pace

    def length(self, job: Job, now: float) -> float:
        return self.wait_at(now) + job.seconds * self.pace

    def free_at(self, now: float) -> list[float]:
        """When each of its slots is free, the earliest first."""
        ends = [_end(began, length, now) for began, length in self.running.values()]
        if self.slots is None:
            return [now]
        idle = max(self.slots - len(ends), 0)
        return sorted([now] * idle + ends)[: self.slots]

    def is_of_use(self) -> bool:
        """Workers whose slots are all taken ask for no orders; but then some run there."""
        return self.takers is None or self.takers > 0 or bool(self.running)


def _end(began: float, length: float, now: float) -> float:
    expected = began + length
    return expected if expected > now else now + _OVERDUE * (now - began)


def starts(jobs: Sequence[Job], places: Mapping[str, Place], now: float) -> list[tuple[Job, str]]:
    """Which jobs start now, and where. The others wait for a slot, which is expected to be the better way."""
    free = {name: place.free_at(now) for name, place in places.items()}
    chosen: list[tuple[Job, str]] = []
    for job in sorted(jobs, key=lambda job: -job.seconds):  # stable: else in the order of the scheduler
        known = [places[name] for name in job.places]
        able = [place for place in known if place.is_of_use()] or known
        best = min(able, key=lambda place: _ends(place, free[place.name], job, now))
        at = free[best.name][0] if free[best.name] else math.inf
        if best.slots is not None and free[best.name]:
            heapq.heapreplace(free[best.name], at + best.length(job, now))
        if at <= now:
            chosen.append((job, best.name))
    return chosen


def _ends(place: Place, free: list[float], job: Job, now: float) -> tuple[float, bool]:
    """When it would end there; of equal places, this machine is better."""
    return (free[0] if free else math.inf) + place.length(job, now), place.name != LOCAL


class Lengths:
    """How long attempts are expected to take, at a usual place."""

    def __init__(self) -> None:
        self._usual: dict[str, float] = {}

    def job(self, name: str, agent: str, estimate: float | None, places: tuple[str, ...]) -> Job:
        """`estimate`: in minutes, by a person or a planner."""
        seconds = estimate * 60.0 if estimate else self._usual.get(agent, _FIRST_LENGTH)
        return Job(name=name, seconds=seconds, places=places, is_guess=not estimate and agent not in self._usual)

    def noted(self, agent: str, seconds: float) -> None:
        before = self._usual.get(agent, seconds)
        self._usual[agent] = (1 - _WEIGHT) * before + _WEIGHT * seconds


class Placement:
    def __init__(
        self,
        slots: Mapping[str, int | None],
        takers: Callable[[str], Awaitable[int | None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`slots`: of each place. `takers`: how many workers a queue has; None: it is not known."""
        self._places = {name: Place(name, count) for name, count in slots.items()}
        self._ask = takers
        self._clock = clock
        self._asked: dict[str, float] = {}
        self._waiting: dict[str, tuple[Job, asyncio.Future[str]]] = {}
        self._watch: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def place(self, job: Job) -> AsyncIterator[str]:
        """The place of this job, as long as the context lasts."""
        name = await self._chosen(job)
        try:
            yield name
        finally:
            del self._places[name].running[job.name]
            self._decide()

    def measured(self, place: str, job: Job, total: float, seconds: float | None) -> None:
        """`seconds` of the agent, of `total` until its result was here; None: it was lost."""
        is_known = seconds is not None and job.seconds > 0 and not job.is_guess
        pace = (seconds or 0.0) / job.seconds if is_known else None
        self._places[place].measured(self._clock(), total - (seconds or 0.0), pace)

    def pace(self, place: str) -> float:
        return self._places[place].pace

    async def _chosen(self, job: Job) -> str:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        await self._hear(job.places)
        self._waiting[job.name] = (job, future)
        asyncio.get_running_loop().call_later(_GATHER, self._decide)
        try:
            return await future
        except asyncio.CancelledError:
            self._waiting.pop(job.name, None)
            if future.done() and not future.cancelled():
                del self._places[future.result()].running[job.name]
            self._decide()
            raise

    def _decide(self) -> None:
        now = self._clock()
        jobs = [job for job, future in self._waiting.values() if not future.done()]
        for job, name in starts(jobs, self._places, now):
            _, future = self._waiting.pop(job.name)
            place = self._places[name]
            place.running[job.name] = (now, place.length(job, now))
            future.set_result(name)
        if self._waiting and (self._watch is None or self._watch.done()):
            self._watch = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        """Workers may come and go while jobs wait."""
        while self._waiting:
            await asyncio.sleep(_NEWS)
            await self._hear(tuple(self._places))
            self._decide()

    async def _hear(self, names: tuple[str, ...]) -> None:
        if len(names) < 2:  # there is no choice
            return
        for name in names:
            if name != LOCAL and self._clock() - self._asked.get(name, -math.inf) >= _NEWS:
                self._asked[name] = self._clock()
                try:
                    async with asyncio.timeout(_ASK):
                        self._places[name].takers = await self._ask(name)
                except TimeoutError:
                    self._places[name].takers = None

    def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
