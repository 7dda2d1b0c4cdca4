"""Who makes an attempt: the shell for an atom with `run`, else the agent that the atom, the role or the configuration
names; and in its place, when that one cannot or will not, the next of its chain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Backend, Failure, Limits, MustWait, Outcome
from aotloop.agents.prices import Price
from aotloop.core.effects import Role
from aotloop.core.limits import seconds
from aotloop.core.model import Atom
from aotloop.runner.availability import Availability, Busy, Gone

SHELL = "shell"


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    backend: Backend
    limits: Limits
    chain: tuple[str, ...] = ()
    """Who else is asked in its place; it is one of them."""
    price: Price | None = None
    instructions: str | None = None
    most: int = 1
    """Attempts that one conversation may take."""


class Staff(Protocol):
    """The configured agents; a Config is one."""

    def agent_of(self, role: Role) -> str | None: ...

    def chain(self, name: str) -> tuple[str, ...]: ...

    def price_of(self, name: str) -> Price | None: ...

    def instructions_for(self, role: Role) -> str | None: ...

    def sitting_of(self, name: str) -> int: ...


class Crew:
    def __init__(
        self, staff: Staff, hire: Callable[[str, Role], tuple[Backend, Limits]], availability: Availability
    ) -> None:
        """`hire` finds a backend by the name of an agent, and raises Unavailable if there is none."""
        self._staff = staff
        self._hire = hire
        self._availability = availability

    def name_for(self, atom: Atom, role: Role) -> str | None:
        """Who is asked first."""
        if atom.run is not None and role == "worker":
            return SHELL
        return atom.agent or self._staff.agent_of(role)

    def who_is_next(self, atom: Atom, role: Role) -> str | None:
        """Who is asked now; who should be, if nobody can."""
        name = self.name_for(atom, role)
        chosen = self._availability.choose(self._chain(name), atom.id) if name is not None else None
        return chosen if isinstance(chosen, str) else name

    def _chain(self, name: str) -> tuple[str, ...]:
        return (SHELL,) if name == SHELL else self._staff.chain(name)

    def seat(self, atom: Atom, role: Role) -> Seat | Busy | Gone | None:
        """None: nobody is there to do it."""
        name = self.name_for(atom, role)
        if name is None:
            return None
        chain = self._chain(name)
        chosen = self._availability.choose(chain, atom.id)
        return self._seat(chosen, chain, atom, role) if isinstance(chosen, str) else chosen

    def _seat(self, name: str, chain: tuple[str, ...], atom: Atom, role: Role) -> Seat:
        backend, limits = self._hire(name, role)
        if name == SHELL:  # a command need not say anything until it is done
            limits = Limits(total=limits.total)
        if atom.timeout is not None:
            limits = replace(limits, total=seconds(atom.timeout))
        return Seat(
            agent=name,
            backend=backend,
            limits=limits,
            chain=chain,
            price=self._staff.price_of(name),
            instructions=self._staff.instructions_for(role),
            most=self._staff.sitting_of(name),
        )

    def take_note(self, seat: Seat, atom: Atom, outcome: Outcome) -> bool:
        """Of what an attempt shows about its agent. Whether it shows nothing else: the atom is not to blame."""
        match outcome:
            case MustWait(reason=reason, retry_after=after, cause=cause):
                self._availability.rests(seat.agent, reason, after, atom.id if cause is None else None)
                return True
            case Failure(cause="auth" | "quota", reason=reason):
                self.dismiss(seat, reason)
                return True
        self._availability.answered(seat.agent, atom.id)
        if isinstance(outcome, Failure) and outcome.cause == "refusal" and self.is_anybody_left(seat, atom):
            self._availability.refuses(seat.agent, atom.id, outcome.reason)
            return True
        return False

    def is_anybody_left(self, seat: Seat, atom: Atom) -> bool:
        """To be asked in the place of this one."""
        others = [one for one in seat.chain if one != seat.agent]
        return not isinstance(self._availability.choose(others, atom.id), Gone)

    def dismiss(self, seat: Seat, reason: str) -> None:
        """It cannot be used in this run any more."""
        self._availability.is_out(seat.agent, reason)
