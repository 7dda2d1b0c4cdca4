"""Checks decide, not claims: an atom's check where its attempt was made, the base case in the project's own folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from aotloop.agents.contract import Outcome
from aotloop.core.checklist import Node, base_case_tree, check_of
from aotloop.core.model import Atom, Objective, Verdict
from aotloop.core.objective import digest_of
from aotloop.runner.clock import now
from aotloop.runner.threads import in_thread
from aotloop.verify.cancellation import Cancellation
from aotloop.verify.evaluate import evaluate
from aotloop.verify.judge import Judge
from aotloop.verify.results import CheckResult, Report

_LONGEST_OUTPUT = 800
_MOST_TRIES = 3
"""How often the base case is tried again because somebody committed meanwhile."""

OnSpent = Callable[[Outcome], None]
"""Told of what was asked of an agent, and may have cost something."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict
    evidence: dict[str, str]
    """Of each failing item."""
    holding: tuple[str, ...]
    waiting: dict[str, str]
    """Why, of each item that is undecided."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What the check of an atom showed."""

    problem: str | None = None
    """Why it does not pass; None if it does."""
    holding: tuple[str, ...] = ()
    """Parts of it."""
    failing: dict[str, str] = {}
    """Part → evidence."""


class JudgeAt(Protocol):
    def __call__(self, objective: Objective, commit: str | None, root: Path, on_spent: OnSpent) -> Judge | None:
        """Who decides what a program cannot, about this objective at this commit, as it lies in this folder."""
        ...


class Checks:
    def __init__(self, root: Path, *, timeout: float, judge_at: JudgeAt, variables: dict[str, str]) -> None:
        self.root = root
        self._timeout = timeout
        self._judge_at = judge_at
        self._variables = variables
        self.on_spent: OnSpent = lambda _: None
        """Called in the thread of the event loop; whoever keeps the books takes its place."""

    async def of_atom(self, atom: Atom, cwd: Path, objective: Objective) -> str | None:
        """Why it does not pass; None if it does, or if nothing decides it."""
        return (await self.found(atom, cwd, objective)).problem

    async def found(self, atom: Atom, cwd: Path, objective: Objective, *, is_judged: bool = True) -> Found:
        """The same, with what holds of it. Not `is_judged`: only what a program decides, which costs nothing."""
        tree = check_of(atom, objective.base_case)
        if tree is None:
            return Found()
        judge = self._judge_at(objective, None, cwd, self._telling()) if is_judged else None
        report = await self._evaluate(tree, cwd, judge)
        failing = {name: evidence_of(result) for name, result in report.failing.items()}
        return Found(problem=_problem(report, failing), holding=tuple(report.holding), failing=failing)

    async def base_case(self, objective: Objective, head: Callable[[], str | None]) -> Judged:
        """A verdict is of one commit: if another one was checked out meanwhile, it is tried again."""
        tree = base_case_tree(objective.base_case)
        for _ in range(_MOST_TRIES):
            commit = await in_thread(head)
            judge = self._judge_at(objective, commit, self.root, self._telling())
            report = await self._evaluate(tree, self.root, judge)
            if await in_thread(head) == commit:
                break
        verdict = Verdict(
            passed=report.passed,
            objective_digest=digest_of(objective),
            at=now(),
            commit=commit,
            undecided=report.undecided,
            failing=tuple(report.failing),
            scores=report.scores,
        )
        evidence = {name: evidence_of(result) for name, result in report.failing.items()}
        waiting = {name: result.evidence for name, result in report.waiting.items()}
        return Judged(verdict=verdict, evidence=evidence, holding=tuple(report.holding), waiting=waiting)

    def _telling(self) -> OnSpent:
        """From any thread; at once, so that it is accounted for even if nobody waits for the judgement any more."""
        loop = asyncio.get_running_loop()

        def tell(outcome: Outcome) -> None:
            loop.call_soon_threadsafe(self.on_spent, outcome)

        return tell

    async def _evaluate(self, tree: Node, cwd: Path, judge: Judge | None) -> Report:
        cancellation = Cancellation()
        work = partial(
            evaluate,
            tree,
            root=cwd,
            timeout=self._timeout,
            judge=judge,
            cancellation=cancellation,
            env=self._variables,
        )
        return await in_thread(work, on_cancel=cancellation.cancel)


def _problem(report: Report, failing: dict[str, str]) -> str | None:
    if report.passed:
        return None
    if report.undecided:
        return f"its check waits for a judgement of: {', '.join(report.waiting)}"
    return "; ".join(f"{name}: {evidence}" for name, evidence in failing.items())


def evidence_of(result: CheckResult) -> str:
    output = (result.output or "").strip()
    if len(output) > _LONGEST_OUTPUT:
        output = f"…{output[-_LONGEST_OUTPUT:]}"
    return f"{result.evidence}\n{output}" if output else result.evidence
