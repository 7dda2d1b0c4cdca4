"""Attempts of atoms: their tasks, their cost, and the wait before the next attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from aotloop.agents.prompts.attempt_prompt import prompt_in_style
from aotloop.clock import now
from aotloop.core import effects, events
from aotloop.core.checks.checklist import check_of, item_names
from aotloop.core.context import context_of
from aotloop.core.effects import Role
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import seconds
from aotloop.core.model import Atom
from aotloop.core.policy.turns import most_in_vain
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Attempt, Run
from aotloop.execution import run_events
from aotloop.execution.agent_pool import SHELL
from aotloop.execution.attempts.attempt_result import Made
from aotloop.execution.budget import Budget
from aotloop.execution.journals.records import Record
from aotloop.execution.task import Task, WarmStart
from aotloop.runner.crash_recovery import Inheritance
from aotloop.runner.ledger import Exchanged, Item
from aotloop.runner.run_context import RunContext


class AtomAttempts:
    def __init__(self, context: RunContext, inheritance: Inheritance, put: Callable[[Item], None]) -> None:
        self._context = context
        self._inheritance = inheritance
        self._run = context.run
        self._tell = context.tell
        self._put = put
        self._shares = Shares(context.run, context.budget, lambda start: self._costs_nothing(start.atom, start.role))

    def task(self, start: effects.StartAttempt) -> Task:
        """Make the task before the loop changes again."""
        loop, context = self._run.loop, context_of(self._run.board, start.atom)
        atom, objective = context.atom, context.objective
        found = self._inheritance.unchecked(start)
        is_free = found is not None or self._costs_nothing(start.atom, start.role)
        is_worker = start.role == "worker"
        return Task(
            name=atom.id,
            number=start.attempt,
            attempt_name=self._context.names.of(atom.id, start.attempt if found is None else found.attempt),
            run_id=self._context.run_id,
            epoch=start.epoch,
            role=start.role,
            description=atom.description,
            commit_title=self._context.commit_title(atom),
            prompt=partial(prompt_in_style, context, start.role),
            command=atom.run if is_worker else None,
            agent=atom.agent,
            timeout=seconds(atom.timeout) if atom.timeout is not None else None,
            estimate=atom.estimate,
            results=context.results,
            check=check_of(atom, objective.base_case),
            touches=atom.touches,
            judge=self._context.judge(objective),
            items=tuple(item_names(objective.base_case)),
            allowance=None if is_free else self._shares.reserve(start.attempt),
            failures=atom.failures,
            failures_in_turn=atom.attempts,
            found=found,
            warm_start=WarmStart(
                is_allowed=is_worker and may_go_on(self._run.board, atom),
                most_in_vain=most_in_vain(loop, atom.failures),
            ),
        )

    def _costs_nothing(self, name: str, role: Role) -> bool:
        """The shell does it, or the atom does not exist any more."""
        atom = self._run.board.atoms.get(name)
        if atom is None:
            return True
        is_command = atom.run is not None and role == "worker"
        return self._context.agent_pool.name_for(role, atom.agent, is_command=is_command) == SHELL

    async def attempt(self, task: Task, wait: Callable[[str, float], None]) -> list[Item]:
        """`wait` is called for an atom that cannot be tried now."""
        self._tell(self._began(task))
        try:
            made = await self._context.attempts.make(task)
        except asyncio.CancelledError:
            self._cancelled(task)
            raise
        self._tell_ended(made, task)
        if made.record is not None:
            self._context.unmerged.put(task.number, made.record)
        if isinstance(made.report, reports.MustWait) and not made.report.for_good:
            wait(task.name, made.retry_after)
        items: list[Item] = [partial(self._spend, made)]
        is_free = task.found is not None or self._costs_nothing(task.name, task.role)
        if not is_free and not isinstance(made.report, reports.MustWait):
            paid = events.AttemptPaid(role=task.role, usd=made.bill.usd or 0.0, seconds=round(made.seconds, 3))
            items.append(reports.Happened(at=now(), event=paid))
        is_used_later = made.record is None or made.record.work is not None
        return [*items, made.report if is_used_later else partial(self._end, made)]

    def _cancelled(self, task: Task) -> None:
        """The cost of an attempt that was ended goes into the file, also after the end of the run."""
        interrupted = self._context.attempts.interrupted.pop(task.number, None)
        record = interrupted.record if interrupted is not None else None
        ended = run_events.AttemptEnded(
            at=now(), atom=task.name, attempt=task.number, outcome="cancelled", name=task.attempt_name
        )
        if interrupted is not None and record is not None:
            bill = record.bill
            ended = replace(ended, seconds=interrupted.seconds, cost_usd=bill.usd, used=bill.used)
        self._tell(ended)
        if record is None or record.bill.is_empty:
            self._context.budget.release(task.number)
            return
        self._context.budget.settle(task.number, record.bill.usd or 0.0)
        self._put(Charge(self._context, record))

    def _end(self, made: Made, exchanged: Exchanged) -> reports.Report | None:
        """The attempt is over once the file has its result. If the run is over by now, the next run takes it up."""
        if self._run.finished:
            return None
        exchanged.afterwards.append(partial(self._context.unmerged.use, made.report.attempt))
        return made.report

    def _spend(self, made: Made, exchanged: Exchanged) -> reports.Report | None:
        """The cost is written together with the result; then the record says so."""
        self._context.budget.release(made.report.attempt)
        if self._run.finished or made.bill.is_empty:
            return None
        exchanged.afterwards.append(partial(self._context.unmerged.account, made.report.attempt))
        return reports.Happened(at=now(), event=made.bill.event)

    async def wait(self, atom: str, seconds: float) -> list[Item]:
        await asyncio.sleep(seconds)
        return [reports.WaitOver(at=now(), atom=atom)]

    # --- news ----------------------------------------------------------------------------------------------------

    def _began(self, task: Task) -> run_events.RunEvent:
        journal = self._context.journal
        return run_events.AttemptBegan(
            at=now(),
            atom=task.name,
            attempt=task.number,
            role=task.role,
            agent=self._context.agent_pool.who_is_next(task) or "",
            description=task.description,
            folder=str(journal.attempt_folder(task.name, task.number).relative_to(journal.root)),
            name=task.attempt_name,
        )

    def _tell_ended(self, made: Made, task: Task) -> None:
        for note in made.notes:
            self._tell(run_events.Warned(at=now(), atom=task.name, text=note))
        self._tell(
            run_events.AttemptEnded(
                at=now(),
                atom=task.name,
                attempt=made.report.attempt,
                outcome=made.outcome,
                summary=made.summary,
                seconds=round(made.seconds, 3),
                cost_usd=made.bill.usd,
                used=made.bill.used,
                name=task.attempt_name,
                checks=made.checks or (made.left.found.parts if made.left is not None else ()),
            )
        )


class Charge:
    """The cost of a cancelled attempt, on its way to the file. It is written even if the run is over."""

    def __init__(self, context: RunContext, record: Record) -> None:
        self._context = context
        self._record = record

    def __call__(self, exchanged: Exchanged) -> None:
        self._context.run.advance(self._record.bill.event)
        self._context.budget.release(self._record.attempt)
        exchanged.afterwards.append(partial(self._context.journal.use, self._record))


class Shares:
    """Shares of the budget for attempts that begin at the same time: equal parts of the rest."""

    def __init__(self, run: Run, budget: Budget, costs_nothing: Callable[[Attempt], bool]) -> None:
        self._run = run
        self._budget = budget
        self._costs_nothing = costs_nothing
        self._known: set[int] = set()

    def reserve(self, number: int) -> float | None:
        """None: no limit."""
        share = self._budget.reserve(number, self._beginning())
        self._known.add(number)
        return share

    def _beginning(self) -> int:
        """Attempts that have just started: all others that could start are running already."""
        started = self._run.attempts.items()
        return sum(number not in self._known and not self._costs_nothing(attempt) for number, attempt in started)


def may_go_on(graph: Graph, atom: Atom) -> bool:
    """Whether a retry may start warm: not for a command, which does the same each time, and not in a race."""
    group = graph.group(atom.id)
    return atom.run is None and not (group is not None and group.speculative)
