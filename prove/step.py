"""One step of the exploration, with everything that laws ask about it."""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

import msgspec

from aotloop.core import events
from aotloop.core.effects import Effect
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Attempt
from prove.ghost import Ghost
from prove.oracle import Plain
from prove.shapes import Setting
from prove.world import Action, NotedRun

E = TypeVar("E", bound=Effect)
V = TypeVar("V", bound=events.Event)


class Before(msgspec.Struct, frozen=True):
    """What the laws need to know of the state before the step."""

    loop: Loop
    attempts: dict[int, Attempt]
    merging: int | None
    verifying: int | None
    measure: int


class Step:
    """The state before, what was reported, what was asked for, the state after."""

    def __init__(
        self,
        before: Before,
        action: Action,
        effects: list[Effect],
        run: NotedRun,
        ghost: Ghost,
        setting: Setting,
        landed: frozenset[str] = frozenset(),
    ) -> None:
        """`landed`: atoms whose work was on the branch before."""
        self.before, self.action, self.effects = before, action, effects
        self.run, self.ghost, self.setting = run, ghost, setting
        self.landed_before = landed

    @cached_property
    def plain(self) -> Plain:
        return Plain(self.run.loop)

    @property
    def loop(self) -> Loop:
        return self.run.loop

    @property
    def report(self) -> reports.Report:
        return self.action.report

    @property
    def is_correction(self) -> bool:
        return isinstance(self.report, reports.Happened) and isinstance(self.report.event, events.Corrected)

    @property
    def merged(self) -> str | None:
        """The atom that was merged in this step, if any."""
        if not isinstance(self.report, reports.Merged) or self.before.merging != self.report.attempt:
            return None
        return self.before.attempts[self.report.attempt].atom

    def asked(self, kind: type[E]) -> list[E]:
        """The effects of this kind."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def noted(self, kind: type[V]) -> list[V]:
        """The events of this kind that happened in this step."""
        return [event for event in self.run.noted if isinstance(event, kind)]


def state_before(run: NotedRun) -> Before:
    attempts = {**run.attempts, **run.blocked}
    return Before(run.loop.snapshot(), attempts, run.merging, run.verifying, attempts_left(run.loop))
