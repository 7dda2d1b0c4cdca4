"""Results of checks: True, False or undecided (None). Undecided never passes, and an empty list never passes.

Results mirror the evaluated tree. Only this module has the logic of three values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from aotloop.core.checks.checklist import JUDGED
from aotloop.core.checks.item_paths import SEPARATOR, distinct
from aotloop.core.model import Check, CheckType

Kind = CheckType | Literal["group", "any_of"]


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: Kind
    passed: bool | None
    evidence: str
    value: str | None = None
    """The command, the pattern, the assertion or the criteria, as in the file."""
    exit_code: int | None = None
    duration: float | None = None
    output: str | None = None
    path: str | None = None
    exists: bool | None = None
    to_judge: Check | None = None
    """The information for a judge; only in judged items."""
    scores: dict[str, float] = {}
    skipped: bool = False
    """Not evaluated, because another choice of its any_of passed."""
    children: tuple[CheckResult, ...] = ()

    def as_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "item": self.name,
            "type": self.kind,
            "passed": self.passed,
            "evidence": self.evidence,
        }
        for key in ("value", "exit_code", "duration", "output", "path", "exists"):
            if (value := getattr(self, key)) is not None:
                data[key] = round(value, 3) if key == "duration" else value
        if self.scores:
            data["scores"] = dict(self.scores)
        if self.skipped:
            data["skipped"] = True
        if self.kind in {"group", "any_of"}:
            data["children"] = [child.as_data() for child in self.children]
        return data


class Report(msgspec.Struct, frozen=True, kw_only=True):
    passed: bool
    undecided: bool
    items: tuple[CheckResult, ...]

    @property
    def failing(self) -> dict[str, CheckResult]:
        """Items to repair, by path of names: each failing leaf, and a failing any_of as one item."""
        return dict(_failing(self.items))

    @property
    def waiting(self) -> dict[str, CheckResult]:
        """The undecided leaves, by path of names, without those of an any_of that passed."""
        return dict(_waiting(self.items))

    @property
    def holding(self) -> dict[str, CheckResult]:
        """The leaves that passed, by path of names."""
        return dict(_holding(self.items))

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """The scores, by path of names and by criterion."""
        return dict(_scores(self.items))

    def as_data(self) -> dict[str, Any]:
        """Plain data for JSON. `skipped` are the judged items that wait for a judgement."""
        return {
            "passed": self.passed,
            "undecided": self.undecided,
            "checklist": [item.as_data() for item in self.items],
            "skipped": [
                {"item": path, "type": leaf.kind, "evidence": leaf.evidence, **_terms(leaf.to_judge)}
                for path, leaf in self.waiting.items()
                if leaf.kind in JUDGED
            ],
        }


def report_of(items: Sequence[CheckResult]) -> Report:
    """The items of a checklist: all of them must pass."""
    passed = all_of(item.passed for item in items)
    return Report(passed=passed is True, undecided=passed is None, items=tuple(items))


def doubted(report: Report, name: str, evidence: str) -> Report:
    """The same results, but nothing is decided by them. The doubt is an item of its own."""
    doubt = CheckResult(name=name, kind="command", passed=None, evidence=evidence)
    return Report(passed=False, undecided=True, items=(*report.items, doubt))


def group_result(name: str, kind: Literal["group", "any_of"], children: Sequence[CheckResult]) -> CheckResult:
    passed = (all_of if kind == "group" else any_of)(child.passed for child in children)
    return CheckResult(
        name=name,
        kind=kind,
        passed=passed,
        evidence=_summary(kind, passed, children),
        children=tuple(children),
    )


def all_of(values: Iterable[bool | None]) -> bool | None:
    seen = set(values)
    if not seen or False in seen:
        return False
    return None if None in seen else True


def any_of(values: Iterable[bool | None]) -> bool | None:
    seen = set(values)
    if True in seen:
        return True
    return None if None in seen else False


def _summary(kind: str, passed: bool | None, children: Sequence[CheckResult]) -> str:
    if not children:
        return f"the {kind} is empty, and nothing empty passes"
    if kind == "any_of" and passed:
        return f"{next(child.name for child in children if child.passed)!r} passed"
    counts = Counter(child.passed for child in children)
    parts = [f"{counts[True]} of {len(children)} passed"]
    parts += [f"{counts[False]} failed"] if counts[False] else []
    parts += [f"{counts[None]} undecided"] if counts[None] else []
    return ", ".join(parts)


def _labelled(items: Sequence[CheckResult], above: str) -> Iterator[tuple[str, CheckResult]]:
    for name, item in zip(distinct([item.name for item in items]), items, strict=True):
        yield above + name, item


def _failing(items: Sequence[CheckResult], above: str = "") -> Iterator[tuple[str, CheckResult]]:
    for path, item in _labelled(items, above):
        if item.passed is not False:
            # An undecided group has no failing child, because such a child would make it fail.
            continue
        if item.kind == "group" and item.children:
            yield from _failing(item.children, path + SEPARATOR)
        else:
            yield path, item


def _waiting(items: Sequence[CheckResult], above: str = "") -> Iterator[tuple[str, CheckResult]]:
    for path, item in _labelled(items, above):
        if item.children:
            if not (item.kind == "any_of" and item.passed):
                yield from _waiting(item.children, path + SEPARATOR)
        elif item.passed is None:
            yield path, item


def _holding(items: Sequence[CheckResult], above: str = "") -> Iterator[tuple[str, CheckResult]]:
    for path, item in _labelled(items, above):
        if item.children:
            yield from _holding(item.children, path + SEPARATOR)
        elif item.passed:
            yield path, item


def _scores(items: Sequence[CheckResult], above: str = "") -> Iterator[tuple[str, dict[str, float]]]:
    for path, item in _labelled(items, above):
        if item.children:
            yield from _scores(item.children, path + SEPARATOR)
        elif item.scores:
            yield path, item.scores


def _terms(check: Check | None) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(check)) or {}
    return {key: value for key, value in data.items() if value is not None and key != "type"}
