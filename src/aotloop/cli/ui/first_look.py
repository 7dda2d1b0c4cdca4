"""Describes the result of the base case before the work, and the items that may prove nothing."""

from __future__ import annotations

from aotloop.checks.results import CheckResult, Report
from aotloop.text.sanitize import prose


def already_holding(report: Report | None) -> list[str]:
    return [_doubt(name, result) for name, result in report.holding.items()] if report is not None else []


def _doubt(name: str, result: CheckResult) -> str:
    if result.kind == "not_command":
        return f"{name}: already holds, because `{result.value}` fails now; the check may be inverted"
    if result.kind == "not_file":
        return f"{name}: already holds, because {result.value} does not exist now; the check may be inverted"
    return f"{name}: already holds; it may prove nothing"


def seen(report: Report | None, unrun: str) -> str:
    """`unrun`: the reason why there is no report."""
    if report is None:
        return f"The base case was not run: {unrun}."
    if report.passed:
        return "The base case already holds: there is nothing to do, or it proves nothing."
    if report.undecided:
        return f"The base case is undecided now; these items have to be judged: {prose(', '.join(report.waiting))}."
    return "The base case fails now, as it should before the work."
