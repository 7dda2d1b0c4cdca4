"""Who makes an attempt: the shell for an atom with `run`, else the agent that the atom or the configuration names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Backend, Limits
from aotloop.core.limits import seconds
from aotloop.core.model import Atom

SHELL = "shell"


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    backend: Backend
    limits: Limits


class Crew:
    def __init__(self, hire: Callable[[str], tuple[Backend, Limits]], agent: str | None) -> None:
        """`hire` finds a backend by the name of an agent, and raises Unavailable if there is none."""
        self._hire = hire
        self._agent = agent

    def name_for(self, atom: Atom, role: Literal["worker", "probe"]) -> str | None:
        return SHELL if atom.run is not None and role == "worker" else atom.agent or self._agent

    def seat(self, atom: Atom, role: Literal["worker", "probe"]) -> Seat | None:
        """None: nobody is there to do it."""
        name = self.name_for(atom, role)
        if name is None:
            return None
        backend, limits = self._hire(name)
        if name == SHELL:  # a command need not say anything until it is done
            limits = Limits(total=limits.total)
        if atom.timeout is not None:
            limits = replace(limits, total=seconds(atom.timeout))
        return Seat(agent=name, backend=backend, limits=limits)
