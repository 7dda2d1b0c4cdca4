"""The agent pool chooses the agent of an attempt: the shell for a command, else the named agent or its chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec.structs import replace

from aotloop.agents.attempt.usage import Price
from aotloop.agents.contract import Backend, Failure, MustWait, Outcome, TimedOut
from aotloop.agents.prompts.short_prompt import Style
from aotloop.core.effects import Role
from aotloop.execution.availability import Availability, Busy, Gone
from aotloop.execution.task import Task
from aotloop.process.spec import Limits

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
        """The agent that is asked first. `agent`: the agent that the task names."""
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
        return tuple(agent for agent in self._staff.chain(name) if agent == name or self._staff.plays(agent, role))

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
            case TimedOut(reason=reason, taught=False) if seat.agent != SHELL:
                self._availability.falls_silent(seat.agent, task.name, reason, is_known=seat.backend.name != "command")
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
