"""Leaf checks: one function and one row of `_CHECKS` for each type of check. No code here knows trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from aotloop.checks.command_check import check_command
from aotloop.checks.file_check import check_file
from aotloop.checks.judge import UNJUDGED, Judge, Judgement, Question
from aotloop.checks.results import CheckResult
from aotloop.core.checks.checklist import JUDGED, Leaf
from aotloop.core.model import CheckType
from aotloop.errors import AotError, refusal
from aotloop.process.cancellation import Cancellation
from aotloop.process.sandbox import Confinement


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    root: Path
    timeout: float
    env: Mapping[str, str] | None
    judge: Judge | None
    confinement: Confinement | None = None
    cancellation: Cancellation


def check_leaf(leaf: Leaf, circumstances: Circumstances, path: str = "", *, is_moot: bool = False) -> CheckResult:
    """`path`: the names of the leaf in the whole report; `is_moot`: its result decides nothing any more."""
    kind = leaf.check.type
    if circumstances.cancellation.cancelled:
        passed = None if kind in JUDGED else False
        return _result(leaf, Judgement(passed=passed, evidence="cancelled before it began"))
    question = Question(leaf.name, leaf.check, path or leaf.name, is_moot)
    return msgspec.structs.replace(_CHECKS[kind](question, circumstances), name=leaf.name)


def not_needed(leaf: Leaf, evidence: str) -> CheckResult:
    """For a choice that was never tried."""
    return msgspec.structs.replace(_result(leaf, Judgement(passed=None, evidence=evidence)), skipped=True)


def _command(leaf: Leaf, circumstances: Circumstances) -> CheckResult:
    return check_command(
        leaf.check.value or "",
        root=circumstances.root,
        timeout=circumstances.timeout,
        expect_fail=leaf.check.type == "not_command",
        cancellation=circumstances.cancellation,
        env=circumstances.env,
        confinement=circumstances.confinement,
    )


def _file(leaf: Leaf, circumstances: Circumstances) -> CheckResult:
    return check_file(
        leaf.check.value or "",
        root=circumstances.root,
        expect_missing=leaf.check.type == "not_file",
        cancellation=circumstances.cancellation,
    )


def _judged(leaf: Question, circumstances: Circumstances) -> CheckResult:
    if circumstances.judge is None:
        return _result(leaf, Judgement(passed=None, evidence=UNJUDGED[leaf.check.type]))
    try:
        judgement = circumstances.judge.judge(leaf, circumstances.cancellation)
    except (AotError, OSError) as error:
        judgement = Judgement(passed=None, evidence=f"the judge could not decide: {refusal(error).message}")
    if leaf.check.type == "assertion" and judgement.passed and not judgement.confirmed:
        waits = f"{judgement.evidence}; waits for a person's confirmation"
        judgement = msgspec.structs.replace(judgement, passed=None, evidence=waits)
    return _result(leaf, judgement)


def _result(leaf: Leaf, judgement: Judgement) -> CheckResult:
    check = leaf.check
    return CheckResult(
        name=leaf.name,
        kind=check.type,
        passed=judgement.passed,
        evidence=judgement.evidence,
        value=check.value or check.criteria,
        to_judge=check if check.type in JUDGED else None,
        scores=judgement.scores,
    )


_CHECKS: Mapping[CheckType, Callable[[Question, Circumstances], CheckResult]] = {
    "command": _command,
    "not_command": _command,
    "file": _file,
    "not_file": _file,
    "assertion": _judged,
    "quality": _judged,
}
