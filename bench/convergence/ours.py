"""Our policy: the machine itself, as a run uses it, driven by the simulator. Only what agents do is made up here."""

from __future__ import annotations

import msgspec

from aotloop.core.conduct import Run
from aotloop.core.conduct import reports as told
from aotloop.core.effects import StartAttempt
from aotloop.core.events import Child
from aotloop.core.model import Atom, BaseCase, Check, ChecklistItem, Constraints, Control, Loop, Objective, OrGroup
from aotloop.simulator import AllGoesWell, simulate
from bench.convergence.accounts import BUDGET, PROBE, Account, Ended
from bench.convergence.jobs import Job, Part, Unit
from bench.convergence.luck import Luck

ENDLESS = 10**9


def patient(tries: int = BUDGET) -> Constraints:
    """So many tries of each way, and then nothing but the budget limits the run."""
    return Constraints(max_attempts=tries, max_stall_count=ENDLESS, max_iterations=ENDLESS)


def ours(job: Job, luck: Luck, limits: Constraints, *, checked: bool = True) -> Ended:
    """`checked`: every atom has a check of its own. Else only the base case tells what is true."""
    loop, account = loop_of(job, limits), Account(job)
    world = Agents(job, luck, account, checked=checked)
    simulated = simulate(loop, world)
    account.check(simulated.verifications * len(job.units))
    is_complete = simulated.status == "completed"
    return account.end(solved=not world.failing(loop), claimed=is_complete, time=simulated.minutes)


def loop_of(job: Job, limits: Constraints) -> Loop:
    """Every unit is an atom, or a group of them, and an item of the base case."""
    atoms = [
        Atom(
            id=name_of(unit.number, way),
            description=f"do unit {unit.number}",
            status="pending",
            depends_on=tuple(name_of(needed, 0) for needed in unit.needs),
            or_group=_group_of(unit),
        )
        for unit in job.units
        for way in range(len(unit.possible))
    ]
    groups = {
        name: OrGroup(
            choices=tuple(name_of(unit.number, way) for way in range(len(unit.possible))),
            selected=name_of(unit.number, 0),
        )
        for unit in job.units
        if (name := _group_of(unit)) is not None
    }
    items = tuple(ChecklistItem(item=str(unit.number), check=Check(type="command", value="test")) for unit in job.units)
    return Loop(
        objective=Objective(
            goal="The job is done",
            base_case=BaseCase(checklist=items),
            background_intent="to see whether it gets done",
            deliverables="every unit",
            definition_of_done="every unit is done in one of its ways",
            constraints=limits,
        ),
        control=Control(
            status="pending",
            iteration=0,
            stall_count=0,
            prev_pending_count=-1,
            stop_requested=False,
            redirect_requested=False,
        ),
        atoms=atoms,
        or_groups=groups,
    )


def name_of(unit: int, way: int) -> str:
    return f"U{unit}W{way}"


def _group_of(unit: Unit) -> str | None:
    return f"ways of {unit.number}" if len(unit.possible) > 1 else None


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What an atom stands for."""

    unit: Unit
    way: int
    parts: tuple[Part, ...]


class Agents(AllGoesWell):
    """An attempt takes a minute for each part, and comes out as the luck of its parts has it."""

    def __init__(self, job: Job, luck: Luck, account: Account, *, checked: bool) -> None:
        super().__init__()
        self._job, self._luck, self._account, self._checked = job, luck, account, checked
        self._tasks = {
            name_of(unit.number, way): Task(unit=unit, way=way, parts=tuple(unit.parts_of(way)))
            for unit in job.units
            for way in range(len(unit.possible))
        }
        self._there: set[Part] = set()
        """What was truly done when it was last tried. It counts as long as its atom is resolved."""

    def attempt(self, run: Run, start: StartAttempt) -> tuple[float, told.OfAttempt]:
        task = self._task(run, run.board.atoms[start.atom])
        if not self._account.can_pay(1 if start.role == "probe" else len(task.parts)):
            return 0.0, told.MustWait(attempt=start.attempt, reason="the budget is used up", for_good=True, at="")
        if start.role == "probe":
            self._account.probe()
            possible = self._luck.judges(task.unit.number, task.way, possible=task.unit.possible[task.way])
            return PROBE, told.ProbeReturned(attempt=start.attempt, feasible=possible, findings="looked at it", at="")
        return len(task.parts), self._work(run, start, task)

    def _task(self, run: Run, atom: Atom) -> Task:
        """Repairs are made at what is missing of their item, in the way that is selected."""
        if atom.repairs is None:
            return self._tasks[atom.id]
        unit = self._job.units[int(atom.repairs)]
        way = way_of(run.loop, unit)
        missing = tuple(part for part in unit.parts_of(way) if part not in self._there)
        return Task(unit=unit, way=way, parts=missing)

    def _work(self, run: Run, start: StartAttempt, task: Task) -> told.OfAttempt:
        unit, number = task.unit, start.attempt
        self._account.start()
        self._account.work(len(task.parts))
        can_be_done = unit.possible[task.way] and not is_spoiled(run.loop, self._job, unit)
        outcome = [success and can_be_done for success in self._luck.successes(task.parts)]
        self._there.difference_update(task.parts)
        if all(outcome):
            return self._claim(task, outcome, number)
        is_divisible = len(task.parts) > 1 and not run.board.atoms[start.atom].whole
        if is_divisible and self._luck.understands(unit.number):
            return told.ChildrenProposed(attempt=number, children=self._children(task), reason="too large", at="")
        if self._luck.claims(unit.number):
            return self._claim(task, outcome, number)
        return told.WorkFailed(attempt=number, reason="it did not work", at="")

    def _claim(self, task: Task, outcome: list[bool], number: int) -> told.OfAttempt:
        if self._checked:
            self._account.check()
            if not all(outcome):
                return told.WorkFailed(attempt=number, reason="its check fails", at="")
        self._there.update(part for part, is_there in zip(task.parts, outcome, strict=True) if is_there)
        return told.WorkDone(attempt=number, summary="done", at="")

    def _children(self, task: Task) -> tuple[Child, ...]:
        names = [f"{name_of(unit, way)}P{part}" for unit, way, part in task.parts]
        for name, part in zip(names, task.parts, strict=True):
            self._tasks[name] = Task(unit=task.unit, way=task.way, parts=(part,))
        return tuple(Child(description="a part", atom=name) for name in names)

    def base_case(self, run: Run) -> dict[str, str]:
        return {str(unit): "it is not done" for unit in self.failing(run.loop)}

    def failing(self, loop: Loop) -> list[int]:
        """Units that are not truly done, as things are."""
        status = {atom.id: atom.status for atom in loop.atoms}
        failing = []
        for unit in self._job.units:
            way = way_of(loop, unit)
            is_there = status[name_of(unit.number, way)] == "resolved" and self._there.issuperset(unit.parts_of(way))
            if not is_there or is_spoiled(loop, self._job, unit):
                failing.append(unit.number)
        return failing


def way_of(loop: Loop, unit: Unit) -> int:
    name = _group_of(unit)
    return 0 if name is None else loop.or_groups[name].choices.index(loop.or_groups[name].selected)


def is_spoiled(loop: Loop, job: Job, unit: Unit) -> bool:
    return any((needed, way_of(loop, job.units[needed])) in unit.spoiled_by for needed in unit.needs)
