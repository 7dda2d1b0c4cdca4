"""Checks decide, not claims: an atom's check where its attempt was made, the base case in the project's own folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from aotloop.core.checklist import Node, atom_check_tree, base_case_tree
from aotloop.core.model import AtomCheck, Objective, Verdict
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

JudgeAt = Callable[[Objective, str | None], Judge | None]
"""Who decides what a program cannot, about this objective at this commit."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict
    evidence: dict[str, str]
    """Of each failing item."""
    holding: tuple[str, ...]
    waiting: tuple[str, ...]


class Checks:
    def __init__(self, root: Path, *, timeout: float, judge_at: JudgeAt, variables: dict[str, str]) -> None:
        self.root = root
        self._timeout = timeout
        self._judge_at = judge_at
        self._variables = variables

    async def of_atom(self, check: AtomCheck, atom: str, cwd: Path) -> str | None:
        """Why it does not pass; None if it does."""
        report = await self._evaluate(atom_check_tree(check, f"check of {atom}"), cwd, judge=None)
        if report.passed:
            return None
        if report.undecided:
            return f"its check waits for a judgement of: {', '.join(report.waiting)}"
        return "; ".join(f"{name}: {evidence_of(result)}" for name, result in report.failing.items())

    async def base_case(self, objective: Objective, head: Callable[[], str | None]) -> Judged:
        """A verdict is of one commit: if another one was checked out meanwhile, it is tried again."""
        tree = base_case_tree(objective.base_case)
        for _ in range(_MOST_TRIES):
            commit = await in_thread(head)
            report = await self._evaluate(tree, self.root, self._judge_at(objective, commit))
            if await in_thread(head) == commit:
                break
        verdict = Verdict(
            passed=report.passed,
            objective_digest=digest_of(objective),
            at=now(),
            commit=commit,
            undecided=report.undecided,
            failing=tuple(report.failing),
        )
        evidence = {name: evidence_of(result) for name, result in report.failing.items()}
        return Judged(verdict=verdict, evidence=evidence, holding=tuple(report.holding), waiting=tuple(report.waiting))

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


def evidence_of(result: CheckResult) -> str:
    output = (result.output or "").strip()
    if len(output) > _LONGEST_OUTPUT:
        output = f"…{output[-_LONGEST_OUTPUT:]}"
    return f"{result.evidence}\n{output}" if output else result.evidence
