"""Runs a loop in virtual time: a driver like the runner, but nothing is done, and every outcome is made up.

How long an attempt takes, and what comes of it, is asked of `World`; so a run can be planned, measured or provoked.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Protocol

import msgspec

from aotloop.core.conduct import Run, conduct
from aotloop.core.conduct import reports as told
from aotloop.core.effects import (
    CancelAttempt,
    CheckParent,
    Effect,
    Finished,
    Integrate,
    Revert,
    StartAttempt,
    VerifyBaseCase,
)
from aotloop.core.model import Loop, Verdict
from aotloop.core.objective import digest_of


class World(Protocol):
    def attempt(self, run: Run, start: StartAttempt) -> tuple[float, told.OfAttempt]:
        """How many minutes it takes, and what is reported then."""

    def merge(self, run: Run, attempt: told.OfAttempt) -> told.OfAttempt:
        """`attempt` is a Merged; what is reported may be another thing."""

    def base_case(self, run: Run) -> dict[str, str]:
        """The failing items, with their evidence; none: it holds."""

    def parent(self, run: Run, atom: str) -> str | None:
        """Why a decomposed atom does not pass its own check; None if it does."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt: of which atom, from when to when (in minutes), and in how wide a company."""

    attempt: int
    atom: str
    role: str
    begin: float
    end: float
    beside: int


class Simulated(msgspec.Struct, frozen=True, kw_only=True):
    status: str
    reason: str | None
    minutes: float
    spans: tuple[Span, ...]
    """In the order in which they began."""
    verifications: int

    @property
    def width(self) -> int:
        return max((span.beside for span in self.spans), default=0)


def simulate(loop: Loop, world: World, *, slots: int | None = None, at: str = "") -> Simulated:
    """The loop is changed as by a real run."""
    simulation = _Simulation(Run(loop, most_parallel=slots), world, at)
    simulation.perform(conduct(simulation.run, told.Began(at=at)))
    while simulation.finished is None and simulation.pending:
        simulation.step()
    finished = simulation.finished
    return Simulated(
        status=finished.status if finished is not None else "running",
        reason=finished.reason if finished is not None else "nothing more can happen",
        minutes=simulation.now,
        spans=tuple(sorted(simulation.spans, key=lambda span: span.attempt)),
        verifications=simulation.verifications,
    )


class _Simulation:
    def __init__(self, run: Run, world: World, at: str) -> None:
        self.run, self.world, self.at = run, world, at
        self.now = 0.0
        self.pending: list[tuple[float, int, told.Report]] = []
        self.begun: dict[int, tuple[StartAttempt, float, int]] = {}
        self.spans: list[Span] = []
        self.verifications = 0
        self.finished: Finished | None = None
        self._digest = digest_of(run.loop.objective)
        self._sequence = 0

    def step(self) -> None:
        self.now, _, report = heapq.heappop(self.pending)
        if isinstance(report, told.OfAttempt) and not isinstance(report, told.Merged):
            self._end(report.attempt)
        self.perform(conduct(self.run, report))

    def perform(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            match effect:
                case StartAttempt(attempt=number):
                    self.begun[number] = (effect, self.now, len(self.run.attempts))
                    minutes, report = self.world.attempt(self.run, effect)
                    self._later(minutes, report)
                case CancelAttempt(attempt=number):
                    self._end(number)
                case Integrate(attempt=number):
                    self._later(0, self.world.merge(self.run, told.Merged(attempt=number, at=self.at)))
                case Revert():
                    self._later(0, told.Reverted(at=self.at))
                case CheckParent(atom=atom):
                    reason = self.world.parent(self.run, atom)
                    self._later(
                        0, told.ParentChecked(atom=atom, passed=reason is None, reason=reason or "", at=self.at)
                    )
                case VerifyBaseCase(number=number):
                    self.verifications += 1
                    self._later(0, self._verified(number))
                case Finished():
                    self.finished = effect

    def _verified(self, number: int) -> told.Verified:
        failing = self.world.base_case(self.run)
        verdict = Verdict(passed=not failing, objective_digest=self._digest, at=self.at, failing=tuple(failing))
        return told.Verified(number=number, verdict=verdict, evidence=failing, at=self.at)

    def _later(self, minutes: float, report: told.Report) -> None:
        self._sequence += 1
        heapq.heappush(self.pending, (self.now + minutes, self._sequence, report))

    def _end(self, number: int) -> None:
        if number in self.begun:
            start, begin, beside = self.begun.pop(number)
            self.spans.append(
                Span(attempt=number, atom=start.atom, role=start.role, begin=begin, end=self.now, beside=beside)
            )


class AllGoesWell:
    """Every attempt succeeds in its estimated time, and the base case holds once everything is resolved."""

    def __init__(self, default_minutes: float = 1.0) -> None:
        self.default_minutes = default_minutes

    def attempt(self, run: Run, start: StartAttempt) -> tuple[float, told.OfAttempt]:
        estimate = run.board.atoms[start.atom].estimate
        minutes = self.default_minutes if estimate is None else estimate
        if start.role == "probe":
            return 0.0, told.ProbeReturned(attempt=start.attempt, feasible=True, findings="", at="")
        return minutes, told.WorkDone(attempt=start.attempt, summary="done", at="")

    def merge(self, run: Run, attempt: told.OfAttempt) -> told.OfAttempt:  # noqa: ARG002
        return attempt

    def base_case(self, run: Run) -> dict[str, str]:
        return {} if run.is_all_resolved() and run.merges else {"the base case": "not yet"}

    def parent(self, run: Run, atom: str) -> str | None:  # noqa: ARG002
        return None
