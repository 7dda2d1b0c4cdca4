"""Red first, in words: what the base case says before the work, and which of its items may prove nothing."""

from __future__ import annotations

from aotloop.cli.foreign import prose
from aotloop.verify.results import CheckResult, Report


def already_holding(report: Report | None) -> list[str]:
    return [_doubt(name, result) for name, result in report.holding.items()] if report is not None else []


def _doubt(name: str, result: CheckResult) -> str:
    if result.kind == "not_command":
        return f"{name}: already holds, because `{result.value}` fails now; it may be the wrong way round"
    if result.kind == "not_file":
        return f"{name}: already holds, because there is no {result.value} now; it may be the wrong way round"
    return f"{name}: already holds; it may prove nothing"


def seen(report: Report | None, unrun: str) -> str:
    """`unrun`: why there is no report."""
    if report is None:
        return f"The base case was not run: {unrun}."
    if report.passed:
        return "The base case already holds: there is nothing to do, or it proves nothing."
    if report.undecided:
        return f"The base case is undecided now; it waits for a judgement of: {prose(', '.join(report.waiting))}."
    return "The base case fails now, as it should before the work."
