"""The simulation: virtual time, in which attempts end in order, and each end is reported as by a real driver."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import msgspec

from aotloop.core import effects as wished
from aotloop.core.events import Spent
from aotloop.core.model import Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.decisions import conduct
from aotloop.core.scheduler.run_state import Run
from aotloop.simulator.worlds import Obstacle, World


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt: its atom, its slot (from 1), its start and its end (in minutes)."""

    attempt: int
    atom: str
    role: wished.Role
    slot: int
    begin: float
    end: float
    beside: int
    """The most attempts that ran at the same time as this one, including itself."""
    is_cancelled: bool = False


class Simulated(msgspec.Struct, frozen=True, kw_only=True):
    """The result. Status "running": the loop hangs, because it waits for an event that never comes."""

    status: str
    reason: str | None
    minutes: float
    spans: tuple[Span, ...]
    """In the order of their starts."""
    verifications: int

    @property
    def width(self) -> int:
        return max((span.beside for span in self.spans), default=0)


def simulate(
    loop: Loop,
    world: World,
    *,
    slots: int | None = None,
    at: str = "",
    commit: str | None = None,
    shares_a_tree: bool = False,
) -> Simulated:
    """Changes the loop like a real run. `slots`: fewer than the loop allows. `commit`: the first commit.

    `shares_a_tree`: attempts are made in the project's folder.
    """
    overriding = {} if slots is None else {"max_parallel_agents": slots}
    simulation = _Simulation(Run(loop, overriding=overriding, shares_a_tree=shares_a_tree), world, at)
    simulation.perform(conduct(simulation.run, reports.Began(at=at, commit=commit)))
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


class _Begun(msgspec.Struct):
    start: wished.StartAttempt
    slot: int
    begin: float
    beside: int = 1


class _Simulation:
    def __init__(self, run: Run, world: World, at: str) -> None:
        self.run, self.world, self.at = run, world, at
        self.now = 0.0
        self.pending: list[tuple[float, int, reports.Report]] = []
        self.spans: list[Span] = []
        self.verifications = 0
        self.finished: wished.Finished | None = None
        self._begun: dict[int, _Begun] = {}
        self._free_slots: list[int] = []
        self._digest = digest_of(run.loop.objective)
        self._is_timed = run.loop.objective.constraints.max_runtime is not None
        self._sequence = 0

    def step(self) -> None:
        when, _, report = heapq.heappop(self.pending)
        if isinstance(report, reports.OfAttempt) and not self._is_known(report.attempt):
            return  # a cancelled attempt does not report any more
        self._pass_time(when)
        if isinstance(report, reports.OfAttempt):
            self._end(report.attempt)
        if isinstance(report, Obstacle):
            self._wait(report)
        self.perform(conduct(self.run, report))

    def perform(self, effects: Iterable[wished.Effect]) -> None:
        for effect in effects:
            match effect:
                case wished.StartAttempt():
                    self._start(effect)
                case wished.CancelAttempt(attempt=number):
                    self._end(number, is_cancelled=True)
                case wished.Integrate(attempt=number):
                    self._later(0, self.world.merge(self.run, reports.Merged(attempt=number, at=self.at)))
                case wished.Revert(atoms=atoms):
                    self.world.revert(self.run, atoms)
                    self._later(0, reports.Reverted(at=self.at))
                case wished.CheckParent(atom=atom):
                    why = self.world.parent(self.run, atom)
                    self._later(0, reports.ParentChecked(atom=atom, passed=why is None, reason=why or "", at=self.at))
                case wished.VerifyBaseCase(number=number):
                    self.verifications += 1
                    self._later(0, self._verified(number))
                case wished.Finished():
                    self.finished = effect

    def _verified(self, number: int) -> reports.Verified:
        failing = self.world.base_case(self.run)
        verdict = Verdict(passed=not failing, objective_digest=self._digest, at=self.at, failing=tuple(failing))
        return reports.Verified(number=number, verdict=verdict, evidence=failing, at=self.at)

    # --- time ----------------------------------------------------------------------------------------------------

    def _later(self, minutes: float, report: reports.Report) -> None:
        self._sequence += 1
        heapq.heappush(self.pending, (self.now + minutes, self._sequence, report))

    def _pass_time(self, when: float) -> None:
        """Time is reported to the run only if its runtime is limited."""
        passed, self.now = when - self.now, when
        if passed > 0 and self._is_timed:
            self.perform(conduct(self.run, reports.Happened(event=Spent(seconds=60 * passed), at=self.at)))

    def _wait(self, obstacle: Obstacle) -> None:
        minutes = self.world.wait(self.run, obstacle)
        if minutes is None:
            return
        if isinstance(obstacle, reports.MergeBlocked):
            self._later(minutes, reports.Unblocked(attempt=obstacle.attempt, at=self.at))
        else:
            self._later(minutes, reports.WaitOver(atom=self.run.attempts[obstacle.attempt].atom, at=self.at))

    # --- attempts ------------------------------------------------------------------------------------------------

    def _is_known(self, number: int) -> bool:
        return number in self.run.attempts or number in self.run.blocked

    def _start(self, start: wished.StartAttempt) -> None:
        slot = heapq.heappop(self._free_slots) if self._free_slots else len(self._begun) + 1
        self._begun[start.attempt] = _Begun(start=start, slot=slot, begin=self.now)
        for span in self._begun.values():
            span.beside = max(span.beside, len(self._begun))
        if self._is_known(start.attempt):  # otherwise the decision that started it has also cancelled it
            self._later(*self.world.attempt(self.run, start))

    def _end(self, number: int, *, is_cancelled: bool = False) -> None:
        begun = self._begun.pop(number, None)
        if begun is None:
            return
        heapq.heappush(self._free_slots, begun.slot)
        self.spans.append(
            Span(
                attempt=number,
                atom=begun.start.atom,
                role=begun.start.role,
                slot=begun.slot,
                begin=begun.begin,
                end=self.now,
                beside=begun.beside,
                is_cancelled=is_cancelled,
            )
        )
