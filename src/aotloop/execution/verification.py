"""Verification: checks decide, not claims. The check of a task runs in the folder with its work."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec

from aotloop.checks.evaluation import evaluate
from aotloop.checks.results import CheckResult, Report
from aotloop.core.checks.checklist import Node
from aotloop.execution.journals.records import CheckedPart
from aotloop.execution.task import JudgeIn, OnSpent
from aotloop.execution.threads import in_thread
from aotloop.fence.check_fence import fence_around
from aotloop.fence.observation import CHECKOUT, UNOBSERVED, Observation
from aotloop.process.cancellation import Cancellation
from aotloop.process.sandbox import Confinement

_LONGEST_OUTPUT = 800
_MOST_PARTS = 50


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of a check."""

    problem: str | None = None
    """Why it fails; None if it passes."""
    holding: tuple[str, ...] = ()
    """Parts that hold."""
    failing: dict[str, str] = {}
    """Part of the check → evidence."""
    parts: tuple[CheckedPart, ...] = ()
    """For a person who looks at the attempt later."""


class Verification:
    def __init__(self, *, timeout: float, variables: dict[str, str]) -> None:
        """`timeout`: seconds for each command. `variables`: for the environment of commands."""
        self._timeout = timeout
        self._variables = variables
        self.on_spent: OnSpent = lambda _: None
        """Called for each answer of a judge, in the thread of that judge. The driver of a run replaces it."""

    async def found(
        self,
        check: Node,
        cwd: Path,
        judge: JudgeIn | None = None,
        confinement: Confinement | None = None,
        observation: Observation = UNOBSERVED,
    ) -> Found:
        """Without a judge only programs decide, which costs nothing."""
        report = await self.report(check, cwd, judge, confinement, observation)
        failing = {name: evidence_of(result) for name, result in report.failing.items()}
        return Found(
            problem=_problem(report, failing), holding=tuple(report.holding), failing=failing, parts=_parts(report)
        )

    async def report(
        self,
        check: Node,
        cwd: Path,
        judge: JudgeIn | None = None,
        confinement: Confinement | None = None,
        observation: Observation = UNOBSERVED,
    ) -> Report:
        """The result of each part. `confinement`: what the commands cannot change; `observation`: what they may not."""
        cancellation = Cancellation()
        with fence_around(confinement, self._variables) as fence:
            work = partial(
                evaluate,
                check,
                root=cwd,
                timeout=self._timeout,
                judge=judge(cwd, self.on_spent) if judge is not None else None,
                cancellation=cancellation,
                env=fence.env,
                confinement=fence.confinement,
            )
            return await in_thread(partial(observation.of, cwd, work), on_cancel=cancellation.cancel)


def _problem(report: Report, failing: dict[str, str]) -> str | None:
    if report.passed:
        return None
    if report.undecided and CHECKOUT in report.waiting:
        return report.waiting[CHECKOUT].evidence
    if report.undecided:
        return f"its check waits for a judgement of: {', '.join(report.waiting)}"
    return "; ".join(f"{name}: {evidence}" for name, evidence in failing.items())


def _parts(report: Report) -> tuple[CheckedPart, ...]:
    found = {**report.failing, **report.waiting, **report.holding}
    parts = [CheckedPart(name=name, passed=part.passed, evidence=evidence_of(part)) for name, part in found.items()]
    return tuple(parts[:_MOST_PARTS])


def evidence_of(result: CheckResult) -> str:
    output = (result.output or "").strip()
    if len(output) > _LONGEST_OUTPUT:
        output = f"…{output[-_LONGEST_OUTPUT:]}"
    return f"{result.evidence}\n{output}" if output else result.evidence
