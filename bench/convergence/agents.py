"""Agents and product in the simulator: attempts from kept trees or clean, sittings, checks that decide."""

from __future__ import annotations

import msgspec

from aotloop.core.effects import StartAttempt
from aotloop.core.model import Atom, Loop
from aotloop.core.policy.turns import most_in_vain
from aotloop.core.scheduler import reports as told
from aotloop.core.scheduler.run_state import Run
from aotloop.simulator import AllGoesWell
from bench.convergence.accounts import PROBE, UNPAID, Account
from bench.convergence.graphs import group_of, item_of, name_of, spoilers_of, way_of
from bench.convergence.jobs import Job, Part, Unit
from bench.convergence.luck import Luck
from bench.convergence.sittings import Sittings


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """What the product does beside the machine; each can be taken away."""

    checked: bool = True
    """Every atom covers its item. Else only the base case tells what is true."""
    warm: bool = True
    """A retry starts from the tree of the failed attempt, if more of the check held there than before."""
    sitting: int = 8
    """Attempts that one agent makes after one start; a failure ends it."""
    probed: bool = False
    """A person marked every alternative with `probe: true`."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What an atom stands for."""

    unit: Unit
    way: int

    @property
    def parts(self) -> list[Part]:
        return self.unit.parts_of(self.way)


class Kept(msgspec.Struct):
    """The tree of a failed attempt, off the branch."""

    parts: set[Part]
    is_trap: bool
    """What is missing cannot be done from here."""
    idle: int = 0
    """Attempts from it that made no progress."""


class Agents(AllGoesWell):
    """An attempt takes a minute for each part it works at, and comes out as the luck of its parts has it."""

    def __init__(self, job: Job, luck: Luck, account: Account, habits: Habits) -> None:
        super().__init__()
        self._job, self._luck, self._account, self._habits = job, luck, account, habits
        self._tasks = {
            name_of(unit.number, way): Task(unit=unit, way=way)
            for unit in job.units
            for way in range(len(unit.possible))
        }
        self._sittings = Sittings(habits.sitting)
        self._merged: dict[str, set[Part]] = {}
        """By atom, what is truly there on the branch."""
        self._results: dict[int, set[Part]] = {}
        """By attempt, what is truly there in its tree, until it is merged."""
        self._landing: dict[int, str] = {}
        """Attempts that are being merged, with their atoms. Until that is reported, it can be called off."""
        self._kept: dict[str, Kept] = {}

    # --- attempts ------------------------------------------------------------------------------------------------

    def attempt(self, run: Run, start: StartAttempt) -> tuple[float, told.OfAttempt]:
        self._settle(run)
        atom = run.board.atoms[start.atom]
        task = self._task(run, atom)
        if start.role == "probe":
            return self._probe(start, task)
        there = self._start_from(run, atom, task)
        missing = [part for part in task.parts if part not in there] or task.parts[:1]
        if not self._account.can_pay(len(missing)):
            return 0.0, _unpaid(start)
        before, is_fresh = self._sittings.take(start.attempt, run)
        if is_fresh:
            self._account.start()
        self._account.work(len(missing))
        spoilers = spoilers_of(run.loop, self._job, task.unit)
        can_be_done = task.unit.possible[task.way] and not spoilers and not self._is_trapped(atom)
        drawn = self._luck.successes(missing, before=before)
        held = there | {part for part, success in zip(missing, drawn, strict=True) if success and can_be_done}
        report = self._report(start, atom, task, there, held, spoilers)
        self._sittings.leave(start.attempt, len(missing), goes_on=isinstance(report, told.WorkDone))
        return len(missing), report

    def _task(self, run: Run, atom: Atom) -> Task:
        """A repair is made in the way that is selected."""
        if atom.repairs is None:
            return self._tasks[atom.id]
        unit = next(one for one in self._job.units if item_of(one) == atom.repairs)
        return Task(unit=unit, way=way_of(run.loop, unit))

    def _start_from(self, run: Run, atom: Atom, task: Task) -> set[Part]:
        """The branch as it is, and what was kept of the last attempt, unless what it was built on is another now."""
        there = self._branch().intersection(task.parts)
        if not atom.partial:
            self._kept.pop(atom.id, None)
        kept = self._kept.get(atom.id)
        if kept is None:
            return there
        if kept.idle >= most_in_vain(run.loop, atom.failures):
            self._kept.pop(atom.id)
            return there
        return there | kept.parts

    def _report(
        self, start: StartAttempt, atom: Atom, task: Task, there: set[Part], held: set[Part], spoilers: list[str]
    ) -> told.OfAttempt:
        unit, number = task.unit, start.attempt
        is_done = held.issuperset(task.parts) and not spoilers
        named = [] if is_done else self._blamed(task, spoilers)
        if is_done or (not named and self._luck.claims(unit.number)):
            self._results[number] = held
            if not self._habits.checked or self._passes(unit, truly=is_done):
                return told.WorkDone(attempt=number, summary="done", at="")
        progress = self._keep(atom, task, there, held)
        missing = [part for part in task.parts if part not in held]
        reason = self._luck.evidence(missing)
        return told.WorkFailed(attempt=number, reason=reason, because_of=tuple(named), progress=progress, at="")

    def _blamed(self, task: Task, spoilers: list[str]) -> list[str]:
        """Which choices an agent that failed says to be in its way."""
        number = task.unit.number
        if spoilers:
            return spoilers if self._luck.understands(number) else []
        if self._luck.misleads(number):
            return [name_of(one, 0) for one in task.unit.needs if group_of(self._job.units[one]) is not None][:1]
        return []

    def _passes(self, unit: Unit, *, truly: bool) -> bool:
        self._account.check()
        return self._luck.passes(unit.number, truly=truly)

    def _keep(self, atom: Atom, task: Task, there: set[Part], held: set[Part]) -> bool:
        """Whether more holds than before."""
        if not self._habits.warm or not self._habits.checked:
            return False
        kept = self._kept.get(atom.id)
        best = kept.parts | there if kept is not None else there
        if held - best:
            self._kept[atom.id] = Kept(parts=held, is_trap=self._luck.traps(task.unit.number, task.way))
            return True
        if kept is not None:
            kept.idle += 1
        return False

    def _is_trapped(self, atom: Atom) -> bool:
        return atom.id in self._kept and self._kept[atom.id].is_trap

    def _probe(self, start: StartAttempt, task: Task) -> tuple[float, told.OfAttempt]:
        if not self._account.can_pay(1):
            return 0.0, _unpaid(start)
        self._account.probe()
        possible = self._luck.judges(task.unit.number, task.way, possible=task.unit.possible[task.way])
        return PROBE, told.ProbeReturned(attempt=start.attempt, feasible=possible, findings="looked at it", at="")

    # --- the branch ----------------------------------------------------------------------------------------------

    def merge(self, run: Run, merged: told.Merged) -> told.OfAttempt:
        self._settle(run)
        self._landing[merged.attempt] = run.attempts[merged.attempt].atom
        return merged

    def _settle(self, run: Run) -> None:
        """What was merged is on the branch; what was called off meanwhile is not."""
        for number, atom_id in list(self._landing.items()):
            if number not in run.attempts:
                del self._landing[number]
                atom = run.board.atoms.get(atom_id)
                if atom is not None and atom.status == "resolved":
                    self._merged[atom_id] = self._results.pop(number)
                    self._kept.pop(atom_id, None)

    def revert(self, run: Run, atoms: tuple[str, ...]) -> None:
        self._settle(run)
        for atom_id in atoms:
            self._merged.pop(atom_id, None)

    def base_case(self, run: Run) -> dict[str, str]:
        self._settle(run)
        truly = set(self.failing(run.loop))
        failing = [one for one in self._job.units if not self._luck.passes(one.number, truly=one.number not in truly)]
        return {item_of(unit): "it is not done" for unit in failing}

    def _branch(self) -> set[Part]:
        return set().union(*self._merged.values())

    def failing(self, loop: Loop) -> list[int]:
        """Units that are not truly done, as things are."""
        branch = self._branch()
        return [
            unit.number
            for unit in self._job.units
            if not branch.issuperset(unit.parts_of(way_of(loop, unit))) or spoilers_of(loop, self._job, unit)
        ]


def _unpaid(start: StartAttempt) -> told.OfAttempt:
    return told.MustWait(attempt=start.attempt, reason=UNPAID, for_good=True, at="")
