"""Which agents can be asked now: some are busy until a time, some are out for this run, some refused this atom.

An agent that is busy is waited for, as long as patience lasts; then whoever is next in its chain is asked instead. As
soon as it is free, it is asked first again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

_FIRST_REST, _LONGEST_REST = 15.0, 900.0
_LONGEST_TOLD = 6 * 3600.0
"""Seconds. A service may ask for hours; what asks for more is asked again then."""


class Busy(msgspec.Struct, frozen=True, kw_only=True):
    """Nobody can be asked before so many seconds."""

    seconds: float
    reason: str


class Gone(msgspec.Struct, frozen=True, kw_only=True):
    """Nobody is left to be asked in this run."""

    reason: str


class _Rest(msgspec.Struct, frozen=True, kw_only=True):
    since: float
    """When it was busy for the first time, without having answered since."""
    until: float
    times: int
    reason: str


class Availability:
    def __init__(self, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience
        self._clock = clock
        self._resting: dict[tuple[str, str | None], _Rest] = {}
        """By agent, and by atom if it is busy for that one only."""
        self._out: dict[str, str] = {}
        self._refused: dict[tuple[str, str], str] = {}

    def choose(self, chain: Sequence[str], atom: str) -> str | Busy | Gone:
        now = self._clock()
        there = [one for one in chain if one not in self._out and (one, atom) not in self._refused]
        busy: list[_Rest] = []
        for agent in there:
            rest = self._rest_of(agent, atom)
            if rest is None or rest.until <= now:
                return agent
            busy.append(rest)
            if rest.until - rest.since <= self._patience:
                break
        if busy:
            first = busy[-1] if len(busy) < len(there) else min(busy, key=lambda rest: rest.until)
            return Busy(seconds=first.until - now, reason=first.reason)
        return Gone(reason="; ".join(dict.fromkeys(self._why_not(one, atom) for one in chain)))

    def rests(self, agent: str, reason: str, told: float | None, atom: str | None = None) -> None:
        """As long as it was told; else longer each time. `atom`: it is busy for this one only, as far as is known."""
        now, before = self._clock(), self._resting.get((agent, atom))
        times = before.times + 1 if before is not None else 0
        usual = min(_FIRST_REST * 2**times, _LONGEST_REST)
        seconds = min(max(told, 0.0), _LONGEST_TOLD) if told is not None else usual
        since = before.since if before is not None else now
        rest = _Rest(since=since, until=now + seconds, times=times, reason=f"{agent}: {reason}")
        self._resting[agent, atom] = rest

    def is_out(self, agent: str, reason: str) -> None:
        self._out[agent] = reason

    def refuses(self, agent: str, atom: str, reason: str) -> None:
        self._refused[agent, atom] = reason

    def answered(self, agent: str, atom: str) -> None:
        self._resting.pop((agent, None), None)
        self._resting.pop((agent, atom), None)

    def _rest_of(self, agent: str, atom: str) -> _Rest | None:
        rests = [self._resting[key] for key in ((agent, None), (agent, atom)) if key in self._resting]
        return max(rests, key=lambda rest: rest.until, default=None)

    def _why_not(self, agent: str, atom: str) -> str:
        return f"{agent}: {self._out.get(agent) or self._refused[agent, atom]}"
