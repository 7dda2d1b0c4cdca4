"""The availability of agents in a run: who rests, who is out, who refused a task, who falls silent, who crashes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

import msgspec

from aotloop.agents.contract import Crashed, Outcome
from aotloop.text.shorten import headline

SILENCES = 3
"""So often an agent may fall silent at a task; then it is not asked again for it. The task is never the cause."""
CRASHING = "the agent crashes"
CRASHES = 3
"""So many tasks on which an agent crashes in the same way show that the agent is the cause."""
_VARYING = re.compile(r"0x[0-9a-fA-F]+|[0-9a-f]{8,}|\d+(?:\.\d+)?|/[^\s:'\"]+")
"""Numbers, addresses and paths."""
_CRASH_CHARACTERS = 600

_FIRST_REST, _LONGEST_REST = 15.0, 900.0
_LONGEST_TOLD = 6 * 3600.0
"""Seconds. A service may ask for hours; after this time it is asked again."""


class Busy(msgspec.Struct, frozen=True, kw_only=True):
    """No agent can be asked before so many seconds."""

    seconds: float
    reason: str


class Gone(msgspec.Struct, frozen=True, kw_only=True):
    """No agent is left for this run."""

    reason: str


class _Rest(msgspec.Struct, frozen=True, kw_only=True):
    since: float
    """When it was first busy, without an answer since."""
    until: float
    times: int
    reason: str


class Availability:
    def __init__(self, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience
        self._clock = clock
        self._resting: dict[tuple[str, str | None], _Rest] = {}
        """By agent, and by task if the agent is busy only for that task."""
        self._out: dict[str, str] = {}
        self._refused: dict[tuple[str, str], str] = {}
        self._silent: dict[tuple[str, str], int] = {}
        self._crashed: dict[str, tuple[str, set[str]]] = {}
        """By agent: its last crash, without what differs each time, and the tasks that had it since."""

    def choose(self, chain: Sequence[str], task: str) -> str | Busy | Gone:
        now = self._clock()
        there = [agent for agent in chain if agent not in self._out and (agent, task) not in self._refused]
        busy: list[_Rest] = []
        for agent in there:
            rest = self._rest_of(agent, task)
            if rest is None or rest.until <= now:
                return agent
            busy.append(rest)
            if rest.until - rest.since <= self._patience:
                break
        if busy:
            first = busy[-1] if len(busy) < len(there) else min(busy, key=lambda rest: rest.until)
            return Busy(seconds=first.until - now, reason=first.reason)
        return Gone(reason="; ".join(dict.fromkeys(self._why_not(agent, task) for agent in chain)))

    def rests(self, agent: str, reason: str, stated_wait: float | None, task: str | None = None) -> None:
        """The wait is as long as the service said; else it grows each time. `task`: it is busy only for this task."""
        now, before = self._clock(), self._resting.get((agent, task))
        times = before.times + 1 if before is not None else 0
        usual = min(_FIRST_REST * 2**times, _LONGEST_REST)
        seconds = min(max(stated_wait, 0.0), _LONGEST_TOLD) if stated_wait is not None else usual
        since = before.since if before is not None else now
        rest = _Rest(since=since, until=now + seconds, times=times, reason=f"{agent}: {reason}")
        self._resting[agent, task] = rest

    def is_out(self, agent: str, reason: str) -> None:
        self._out[agent] = reason

    def refuses(self, agent: str, task: str, reason: str) -> None:
        self._refused[agent, task] = reason

    def falls_silent(self, agent: str, task: str, reason: str, *, is_known: bool) -> None:
        """`is_known`: it is a client with a service, which others ask as well. Any other program is asked at once."""
        times = self._silent[agent, task] = self._silent.get((agent, task), 0) + 1
        if times >= SILENCES:
            self.refuses(agent, task, f"{reason}, {times} times at {task}")
        elif is_known:
            self.rests(agent, f"{reason}: its service seems to be out", None)
        else:
            self.rests(agent, reason, 0.0, task)

    def crashes(self, agent: str, task: str, outcome: Outcome) -> bool:
        """Whether the agent is the cause: the same crash at several tasks in a row. Then it is out."""
        if not isinstance(outcome, Crashed):
            self._crashed.pop(agent, None)
            return False
        crash = _VARYING.sub("#", outcome.reason.replace(task, "#"))[:_CRASH_CHARACTERS]
        before, tasks = self._crashed.get(agent, (crash, set()))
        self._crashed[agent] = (crash, {*tasks, task} if before == crash else {task})
        if len(self._crashed[agent][1]) < CRASHES:
            return False
        self.is_out(agent, f"{CRASHING}: {agent}, {CRASHES} times alike at different tasks: {headline(outcome.reason)}")
        return True

    def answered(self, agent: str, task: str) -> None:
        self._resting.pop((agent, None), None)
        self._resting.pop((agent, task), None)
        self._silent.pop((agent, task), None)

    def _rest_of(self, agent: str, task: str) -> _Rest | None:
        rests = [self._resting[key] for key in ((agent, None), (agent, task)) if key in self._resting]
        return max(rests, key=lambda rest: rest.until, default=None)

    def _why_not(self, agent: str, task: str) -> str:
        reason = self._out.get(agent) or self._refused[agent, task]
        return reason if reason.startswith(CRASHING) else f"{agent}: {reason}"
