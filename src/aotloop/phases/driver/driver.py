"""Drives a phase loop turn by turn, as long as no session and no person has taken it.

`turn` does one turn. A phase of many steps is done as a graph, which the use case provides.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from aotloop.clock import now
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.driver.announcer import Announcer
from aotloop.phases.driver.artifacts import changed_since, claimed
from aotloop.phases.driver.claims import Claims
from aotloop.phases.driver.interruption import Interruptions, is_ours
from aotloop.phases.driver.phase_run import DriverContext
from aotloop.phases.driver.phase_turn import Turns


class GraphResult(msgspec.Struct, frozen=True, kw_only=True):
    """How the graph of a phase ended."""

    reason: str | None = None
    """Why it stopped; None: its base case holds."""
    is_given_up: bool = False
    """It will make no more progress, so one agent does the phase instead."""
    summary: str = ""
    """The atoms' own summaries."""
    failures: tuple[str, ...] = ()
    """Why its atoms failed, the latest last."""


class StepGraph(Protocol):
    """Does a phase as a loop of its own, over the steps of a plan or the findings of a review."""

    def is_wanted(self, loop: PhaseLoop) -> bool: ...

    def run(self, loop: PhaseLoop) -> GraphResult | None:
        """None: no graph can be made of this phase."""


class Driver:
    def __init__(
        self,
        context: DriverContext,
        claims: Claims,
        turns: Turns,
        graph: StepGraph,
        interruptions: Interruptions,
        announcer: Announcer,
    ) -> None:
        self._context = context
        self._claims = claims
        self._turns = turns
        self._graph = graph
        self._interruptions = interruptions
        self._announcer = announcer

    def drive(self) -> None:
        self._interruptions.run(self._turns.take_up())
        self._interruptions.run(self._turns.ask_again())
        while self._interruptions.signal is None and is_ours(loop := self._claims.loop):
            self._announcer.loop_changed(loop)
            if self._graph.is_wanted(loop):
                self._run_graph(loop)
            else:
                self._interruptions.run(self._turns.take())
        self._announcer.loop_changed(self._claims.loop)

    def _run_graph(self, loop: PhaseLoop) -> None:
        try:
            with self._announcer.aside():
                result = self._graph.run(loop)
        except AotError as error:  # a person's uncommitted changes, for example: the work so far is kept
            self._claims.stop(f"blocked: {error.message}")
            return
        if result is None:
            self._interruptions.run(self._turns.take())
        elif is_ours(self._claims.loop):
            self._interruptions.run(self._follow(loop, result))

    async def _follow(self, loop: PhaseLoop, result: GraphResult) -> None:
        if result.reason is None and await self._claims.is_held_up():
            return
        if result.reason is None:
            changed = changed_since(self._context.project, loop.phase_started_at or loop.started_at)
            await self._claims.file(claimed(loop, (), "", changed), None, result.summary)
            await self._claims.end_turn(loop)
        elif result.is_given_up:
            reasons = "; ".join([result.reason, *result.failures])
            self._claims.failed(f"done as a graph, step by step, it did not get there: {reasons}", now())
            await self._claims.end_turn(loop)
        else:
            self._claims.stop(result.reason)
