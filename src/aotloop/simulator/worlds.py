"""Worlds for the simulator: they decide how long an attempt takes and how it ends. They know no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Protocol

import msgspec
from msgspec.structs import replace

from aotloop.core import effects as wished
from aotloop.core.checks.checklist import base_case_tree, count_repairable
from aotloop.core.events import Child
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Attempt, Run

Obstacle = reports.MustWait | reports.MergeBlocked


class World(Protocol):
    def attempt(self, run: Run, start: wished.StartAttempt) -> tuple[float, reports.OfAttempt]:
        """The duration of the attempt in minutes, and its report."""

    def wait(self, run: Run, obstacle: Obstacle) -> float | None:
        """Minutes until the obstacle is gone; None: never."""

    def merge(self, run: Run, merged: reports.Merged) -> reports.OfAttempt:
        """The report of a merge: merged, or another result."""

    def revert(self, run: Run, atoms: tuple[str, ...]) -> None:
        """Takes back the contributions of these atoms."""

    def base_case(self, run: Run) -> dict[str, str]:
        """The failing items with their evidence; empty: the base case holds."""

    def parent(self, run: Run, atom: str) -> str | None:
        """Why a decomposed atom fails its own check; None if it passes."""


class AllGoesWell:
    """Every attempt succeeds, in the given or else the estimated minutes. Probes find no obstacle at once."""

    def __init__(self, minutes: Mapping[str, float] | None = None, *, default_minutes: float = 1.0) -> None:
        self._minutes = minutes if minutes is not None else {}
        self._default = default_minutes

    def attempt(self, run: Run, start: wished.StartAttempt) -> tuple[float, reports.OfAttempt]:
        if start.role == "probe":
            return 0.0, reports.ProbeReturned(attempt=start.attempt, feasible=True, findings="", at="")
        return self.minutes(run, start.atom), reports.WorkDone(attempt=start.attempt, summary="done", at="")

    def minutes(self, run: Run, atom: str) -> float:
        estimate = run.board.atoms[atom].estimate
        return self._minutes.get(atom, self._default if estimate is None else estimate)

    def wait(self, run: Run, obstacle: Obstacle) -> float | None:  # noqa: ARG002
        return self._default

    def merge(self, run: Run, merged: reports.Merged) -> reports.OfAttempt:  # noqa: ARG002
        return merged

    def revert(self, run: Run, atoms: tuple[str, ...]) -> None:
        pass

    def base_case(self, run: Run) -> dict[str, str]:
        return {} if run.is_all_resolved() else {"the base case": "not yet"}

    def parent(self, run: Run, atom: str) -> str | None:  # noqa: ARG002
        return None


class AsGiven(AllGoesWell):
    """Given outcomes of attempts and merges for each atom, in order, and given verdicts. After them, all goes well.

    The attempt numbers in the given outcomes do not matter.
    """

    def __init__(
        self,
        minutes: Mapping[str, float] | None = None,
        *,
        attempts: Mapping[str, Sequence[reports.OfAttempt]] | None = None,
        merges: Mapping[str, Sequence[reports.OfAttempt]] | None = None,
        verdicts: Sequence[dict[str, str]] = (),
        default_minutes: float = 1.0,
    ) -> None:
        super().__init__(minutes, default_minutes=default_minutes)
        self._attempts = {atom: list(given) for atom, given in (attempts or {}).items()}
        self._merges = {atom: list(given) for atom, given in (merges or {}).items()}
        self._verdicts = list(verdicts)

    def attempt(self, run: Run, start: wished.StartAttempt) -> tuple[float, reports.OfAttempt]:
        minutes, well = super().attempt(run, start)
        given = self._attempts.get(start.atom)
        return minutes, replace(given.pop(0), attempt=start.attempt) if given else well

    def merge(self, run: Run, merged: reports.Merged) -> reports.OfAttempt:
        given = self._merges.get(_attempt(run, merged.attempt).atom)
        return replace(given.pop(0), attempt=merged.attempt) if given else merged

    def base_case(self, run: Run) -> dict[str, str]:
        return self._verdicts.pop(0) if self._verdicts else super().base_case(run)


def _attempt(run: Run, number: int) -> Attempt:
    """Finds an attempt. One whose merge was blocked is stored separately."""
    return run.attempts[number] if number in run.attempts else run.blocked[number]


class Chances(msgspec.Struct, frozen=True, kw_only=True):
    """The probability of each mishap. The first three exclude each other, and so do those of a merge."""

    fails: float = 0.2
    grows: float = 0.1
    waits: float = 0.05
    infeasible: float = 0.3
    refused: float = 0.05
    conflicts: float = 0.05
    blocked: float = 0.02
    parent_fails: float = 0.2
    base_case_fails: float = 0.2


class ByChance(AllGoesWell):
    """Everything can happen. Durations have a lognormal distribution around the given or estimated ones."""

    def __init__(
        self,
        random: Random,
        chances: Chances | None = None,
        minutes: Mapping[str, float] | None = None,
        *,
        spread: float = 1.0,
    ) -> None:
        super().__init__(minutes)
        self._random, self._spread = random, spread
        self._chances = chances if chances is not None else Chances()

    def minutes(self, run: Run, atom: str) -> float:
        return super().minutes(run, atom) * self._random.lognormvariate(0, self._spread)

    def attempt(self, run: Run, start: wished.StartAttempt) -> tuple[float, reports.OfAttempt]:
        number, chances, minutes = start.attempt, self._chances, self.minutes(run, start.atom)
        happens = self._one_of(fails=chances.fails, grows=chances.grows, waits=chances.waits)
        if happens == "waits":
            return 0.0, reports.MustWait(attempt=number, reason="too many at once", at="")
        if start.role == "probe":
            feasible = self._random.random() >= chances.infeasible
            return minutes, reports.ProbeReturned(
                attempt=number, feasible=feasible, findings="", estimate=self._random.choice([None, minutes]), at=""
            )
        if happens == "fails":
            progress = self._random.random() < 0.5
            return minutes, reports.WorkFailed(attempt=number, reason="bad luck", progress=progress, at="")
        if happens == "grows":
            return minutes, reports.ChildrenProposed(
                attempt=number, children=self._children(), reason="too much", at=""
            )
        return minutes, reports.WorkDone(attempt=number, summary="done", at="")

    def wait(self, run: Run, obstacle: Obstacle) -> float | None:
        """A problem that needs a person may stay unsolved."""
        is_lasting = isinstance(obstacle, reports.MergeBlocked) and self._random.random() < 0.5
        return None if is_lasting else self._random.expovariate(1 / (super().wait(run, obstacle) or 1))

    def merge(self, run: Run, merged: reports.Merged) -> reports.OfAttempt:
        number, chances = merged.attempt, self._chances
        match self._one_of(refused=chances.refused, conflicts=chances.conflicts, blocked=chances.blocked):
            case "refused":
                return reports.MergeRefused(attempt=number, reason="does not go together", at="")
            case "conflicts" if _attempt(run, number).merges < run.merges:
                others = [atom.id for atom in run.loop.atoms if atom.status == "resolved"]
                return reports.MergeConflicted(
                    attempt=number, others=(self._random.choice(others),) if others else (), at=""
                )
            case "blocked":
                return reports.MergeBlocked(attempt=number, reason="the same file is being edited", at="")
        return merged

    def base_case(self, run: Run) -> dict[str, str]:
        if not run.is_all_resolved() or self._random.random() >= self._chances.base_case_fails:
            return super().base_case(run)
        items = count_repairable(base_case_tree(run.loop.objective.base_case))
        failing = self._random.sample(range(1, items + 1), self._random.randint(1, items))
        return {f"item {number}": "it does not hold" for number in failing}

    def parent(self, run: Run, atom: str) -> str | None:  # noqa: ARG002
        return "the parts do not fit" if self._random.random() < self._chances.parent_fails else None

    def _one_of(self, **chances: float) -> str | None:
        drawn = self._random.random()
        for name, chance in chances.items():
            if drawn < chance:
                return name
            drawn -= chance
        return None

    def _children(self) -> tuple[Child, ...]:
        """Two or three parts, perhaps in a row, perhaps as alternatives."""
        count, in_row, or_group = self._random.randint(2, 3), self._random.random() < 0.5, "way"
        if self._random.random() < 0.3:
            return tuple(Child(description="a way", or_group=or_group) for _ in range(count))
        return tuple(
            Child(
                description="a part",
                name=f"part {number}",
                depends_on=(f"part {number - 1}",) if in_row and number else (),
            )
            for number in range(count)
        )
