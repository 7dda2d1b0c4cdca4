"""Drives a phase loop, turn by turn, for as long as it is ours to drive; what each turn is, others know."""

from __future__ import annotations

from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.filing import now
from aotloop.runner.runner import Ending as GraphEnding
from aotloop.shipping.artifacts import changed_since, claimed
from aotloop.shipping.claims import Claims
from aotloop.shipping.interrupting import Interruptions, is_ours
from aotloop.shipping.means import Means
from aotloop.shipping.showing import Show
from aotloop.shipping.turns import Turns
from aotloop.shipping.working import Working


class Driver:
    def __init__(
        self,
        means: Means,
        claims: Claims,
        turns: Turns,
        working: Working,
        interruptions: Interruptions,
        show: Show,
    ) -> None:
        self._means = means
        self._claims = claims
        self._turns = turns
        self._working = working
        self._interruptions = interruptions
        self._show = show

    def drive(self) -> None:
        self._interruptions.run(self._turns.take_up())
        self._interruptions.run(self._turns.ask_again())
        while self._interruptions.signal is None and is_ours(loop := self._claims.loop):
            self._show.loop_changed(loop)
            if self._working.is_wanted(loop):
                self._work(loop)
            else:
                self._interruptions.run(self._turns.take())
        self._show.loop_changed(self._claims.loop)

    def _work(self, loop: PhaseLoop) -> None:
        try:
            with self._show.aside():
                ending = self._working.run(loop)
        except AotError as error:  # somebody's uncommitted changes, say: what is done so far is kept
            self._claims.stop(f"blocked: {error.message}")
            return
        if ending is None:  # no graph can be made of it: one agent does it
            self._interruptions.run(self._turns.take())
        elif is_ours(self._claims.loop):
            self._interruptions.run(self._follow(loop, ending))

    async def _follow(self, loop: PhaseLoop, ending: GraphEnding) -> None:
        if ending.reason is None and await self._claims.is_held_up():
            return
        if ending.reason is None:
            changed = changed_since(self._means.ground, loop.phase_started_at or loop.started_at)
            artifact = claimed(loop, (), "", changed)
            await self._claims.file(artifact, None, self._working.summary())
            await self._claims.end_turn(loop)
        elif self._working.is_given_up():
            told = "; ".join([ending.reason, *self._working.failures()])
            self._claims.failed(f"done as a graph, step by step, it did not get there: {told}", now())
            await self._claims.end_turn(loop)
        else:
            self._claims.stop(ending.reason)
