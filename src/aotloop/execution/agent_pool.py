"""The agent pool chooses the agent of an attempt: the shell for a command, else the named agent or its chain."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Backend, Crashed, Failure, MustWait, Outcome, TimedOut
from aotloop.agents.prompts.short_prompt import Style
from aotloop.agents.usage import Price
from aotloop.core.effects import Role
from aotloop.execution.task import Task
from aotloop.process.spec import Limits
from aotloop.text.shorten import headline

SHELL = "shell"


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    backend: Backend
    limits: Limits
    chain: tuple[str, ...] = ()
    """The agents that may replace it; it is one of them."""
    price: Price | None = None
    instructions: str | None = None
    most: int = 1
    """The most attempts in one conversation."""
    style: Style = "full"


class Staff(Protocol):
    """The configured agents; a Config is one."""

    def agent_of(self, role: Role) -> str | None: ...

    def chain(self, name: str) -> tuple[str, ...]: ...

    def price_of(self, name: str) -> Price | None: ...

    def instructions_for(self, role: Role) -> str | None: ...

    def sitting_of(self, name: str) -> int: ...

    def style_of(self, name: str) -> Style: ...

    def plays(self, name: str, role: Role) -> bool: ...


class AgentPool:
    def __init__(
        self, staff: Staff, hire: Callable[[str, Role], tuple[Backend, Limits]], availability: Availability
    ) -> None:
        """`hire` finds a backend by the name of an agent, and raises Unavailable if there is none."""
        self._staff = staff
        self._hire = hire
        self._availability = availability

    def name_for(self, role: Role, agent: str | None, *, is_command: bool) -> str | None:
        """The agent that is asked first; `agent`: the one that the task asks for."""
        if is_command:
            return SHELL
        is_able = agent is not None and (role == "worker" or self._staff.plays(agent, role))
        return agent if is_able else self._staff.agent_of(role)

    def who_is_next(self, task: Task) -> str | None:
        """The agent that is asked now; the first of its chain, if none of them can be asked."""
        name = self._name(task)
        chosen = self._availability.choose(self._chain(name, task.role), task.name) if name is not None else None
        return chosen if isinstance(chosen, str) else name

    def _name(self, task: Task) -> str | None:
        return self.name_for(task.role, task.agent, is_command=task.command is not None)

    def _chain(self, name: str, role: Role) -> tuple[str, ...]:
        """Only those that play the role; the first one was asked for."""
        if name == SHELL:
            return (SHELL,)
        return tuple(one for one in self._staff.chain(name) if one == name or self._staff.plays(one, role))

    def seat(self, task: Task) -> Seat | Busy | Gone | None:
        """None: no agent is configured for it."""
        name = self._name(task)
        if name is None:
            return None
        chain = self._chain(name, task.role)
        chosen = self._availability.choose(chain, task.name)
        return self._seat(chosen, chain, task) if isinstance(chosen, str) else chosen

    def _seat(self, name: str, chain: tuple[str, ...], task: Task) -> Seat:
        backend, limits = self._hire(name, task.role)
        if name == SHELL:  # a command may be silent until it is done
            limits = Limits(total=limits.total)
        if task.timeout is not None:
            limits = replace(limits, total=task.timeout)
        return Seat(
            agent=name,
            backend=backend,
            limits=limits,
            chain=chain,
            price=self._staff.price_of(name),
            instructions=self._staff.instructions_for(task.role),
            most=self._staff.sitting_of(name),
            style=self._staff.style_of(name),
        )

    def take_note(self, seat: Seat, task: Task, outcome: Outcome) -> bool:
        """Notes what an attempt shows about its agent. Returns whether it shows nothing about the task."""
        match outcome:
            case MustWait(reason=reason, retry_after=after, cause=cause):
                self._availability.rests(seat.agent, reason, after, task.name if cause is None else None)
                return True
            case TimedOut(reason=reason, taught=False) if seat.backend.name not in _PROGRAMS:
                self._availability.rests(seat.agent, f"{reason}: its service seems to be out", None)
                return True
            case Failure(cause="auth" | "quota", reason=reason):
                self.dismiss(seat, reason)
                return True
        self._availability.answered(seat.agent, task.name)
        if self._availability.crashes(seat.agent, task.name, outcome):
            return True
        if isinstance(outcome, Failure) and outcome.cause == "refusal" and self.is_another_left(seat, task):
            self._availability.refuses(seat.agent, task.name, outcome.reason)
            return True
        return False

    def is_another_left(self, seat: Seat, task: Task) -> bool:
        """Whether another agent can replace this one."""
        others = [agent for agent in seat.chain if agent != seat.agent]
        return not isinstance(self._availability.choose(others, task.name), Gone)

    def dismiss(self, seat: Seat, reason: str) -> None:
        """This agent cannot be used in this run any more."""
        self._availability.is_out(seat.agent, reason)


_PROGRAMS = ("command", SHELL)
"""Programs of which we do not know whether a service is behind them: their silence is their own."""

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

    def rests(self, agent: str, reason: str, told: float | None, task: str | None = None) -> None:
        """The wait is as long as the service said; else it grows each time. `task`: it is busy only for this task."""
        now, before = self._clock(), self._resting.get((agent, task))
        times = before.times + 1 if before is not None else 0
        usual = min(_FIRST_REST * 2**times, _LONGEST_REST)
        seconds = min(max(told, 0.0), _LONGEST_TOLD) if told is not None else usual
        since = before.since if before is not None else now
        rest = _Rest(since=since, until=now + seconds, times=times, reason=f"{agent}: {reason}")
        self._resting[agent, task] = rest

    def is_out(self, agent: str, reason: str) -> None:
        self._out[agent] = reason

    def refuses(self, agent: str, task: str, reason: str) -> None:
        self._refused[agent, task] = reason

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

    def _rest_of(self, agent: str, task: str) -> _Rest | None:
        rests = [self._resting[key] for key in ((agent, None), (agent, task)) if key in self._resting]
        return max(rests, key=lambda rest: rest.until, default=None)

    def _why_not(self, agent: str, task: str) -> str:
        reason = self._out.get(agent) or self._refused[agent, task]
        return reason if reason.startswith(CRASHING) else f"{agent}: {reason}"
