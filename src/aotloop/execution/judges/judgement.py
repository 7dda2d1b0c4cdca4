"""A judgement from the answers, with evidence in which every score stands with the places that support it.

A score counts only if its evidence names an existing line; the lowest score is an exception, since missing code cannot
be quoted. A score that does not count is missing, and without a score for every criterion nothing is decided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from aotloop.agents.answers.answer_schema import Score
from aotloop.agents.contract import Judged, MustWait, Outcome, Scored
from aotloop.checks.judge import Judgement
from aotloop.core.checks.checklist import LOWEST_SCORE
from aotloop.core.checks.quality import SIMPLE, Grade, criteria_of, grade
from aotloop.core.model import Check
from aotloop.foreign_files import begin_of_foreign
from aotloop.text.shorten import cut, one_line

_LONGEST_EVIDENCE = 500
"""The most characters of one criterion, or of a failure."""
_LONGEST = 6000
_MOST_CRITERIA = 40
_MOST_BYTES = 16 << 20

FindPlaces = Callable[[str], tuple[str, ...]]
"""Finds the places in a text that exist; see `places_in`."""


class _Vote(msgspec.Struct, frozen=True, kw_only=True):
    scores: Mapping[str, Score] = {}
    unbacked: tuple[str, ...] = ()
    """Criteria whose score names no existing place."""
    problem: str | None = None
    """Why there is no judgement."""


def assertion_judged(outcome: Outcome) -> Judgement:
    if not isinstance(outcome, Judged):
        return Judgement(passed=None, evidence=_why_not(outcome))
    if outcome.passed:
        return Judgement(passed=True, evidence=f"an agent says yes: {one_line(outcome.evidence, _LONGEST)}")
    failures = [one_line(failure, _LONGEST_EVIDENCE) for failure in outcome.failures] or [
        one_line(outcome.evidence, _LONGEST)
    ]
    return Judgement(passed=False, evidence=cut(f"an agent says no: {'; '.join(failures)}", _LONGEST))


def quality_judged(check: Check, outcomes: Sequence[Outcome], find_places: FindPlaces) -> Judgement:
    votes = [_vote(check, outcome, find_places) for outcome in outcomes]
    result = grade(check, [{name: score.score for name, score in vote.scores.items()} for vote in votes])
    lines = [_headline(check, result, votes)]
    lines += _lines(check, result, votes)
    return Judgement(passed=result.passed, evidence=cut("\n".join(lines), _LONGEST), scores=result.scores)


def _vote(check: Check, outcome: Outcome, find_places: FindPlaces) -> _Vote:
    if not isinstance(outcome, Scored):
        return _Vote(problem=_why_not(outcome))
    names = [entry.criterion for entry in criteria_of(check)]
    given = {_meant(score.criterion, names): score for score in outcome.scores}
    known = {name: score for name, score in given.items() if name in names}
    unbacked = tuple(
        name for name, score in known.items() if score.score != LOWEST_SCORE and not find_places(score.evidence)
    )
    return _Vote(scores={name: score for name, score in known.items() if name not in unbacked}, unbacked=unbacked)


def _meant(written: str, names: Sequence[str]) -> str:
    """The name from the answer, on one line. If there is only one criterion, every name means it."""
    by_line = {one_line(name, len(name)): name for name in names}
    return names[0] if list(names) == [SIMPLE] else by_line.get(one_line(written, len(written)), written)


def _why_not(outcome: Outcome) -> str:
    if isinstance(outcome, MustWait):
        return f"the judge could not be asked now: {one_line(outcome.reason, _LONGEST_EVIDENCE)}"
    reason = getattr(outcome, "reason", "its answer belongs to another role")
    return f"the judge gave no answer that counts: {one_line(reason, _LONGEST_EVIDENCE)}"


def _headline(check: Check, result: Grade, votes: Sequence[_Vote]) -> str:
    if result.mean is not None:
        of = f" (median of {len(votes)} votes)" if len(votes) > 1 else ""
        return f"{_number(result.mean)} of 5{of}, needs {check.pass_threshold:g}"
    problems = list(dict.fromkeys(vote.problem for vote in votes if vote.problem is not None))
    if len(problems) == len(votes) == 1:
        return problems[0]
    unbacked = {name for vote in votes for name in vote.unbacked}
    missing = [
        f"{one_line(name, 80)} ({'not backed by a place in the files' if name in unbacked else 'no score that counts'})"
        for name in result.missing
    ]
    headline = f"not judged: {', '.join(missing)}"
    return f"{headline}; of {len(votes)} votes, {'; '.join(problems)}" if problems else headline


def _lines(check: Check, result: Grade, votes: Sequence[_Vote]) -> list[str]:
    """The worst first: the reader who repairs it may see only the beginning."""
    names = [entry.criterion for entry in criteria_of(check) if entry.criterion in result.scores][:_MOST_CRITERIA]
    return [_line(name, result.scores[name], votes) for name in sorted(names, key=lambda name: result.scores[name])]


def _line(name: str, score: float, votes: Sequence[_Vote]) -> str:
    given = [vote.scores[name] for vote in votes if name in vote.scores]
    nearest = min(given, key=lambda candidate: (abs(candidate.score - score), candidate.score))
    of = f" (votes: {', '.join(_number(candidate.score) for candidate in given)})" if len(votes) > 1 else ""
    evidence = one_line(nearest.evidence, _LONGEST_EVIDENCE)
    return f"- {one_line(name, 80)} {_number(score)}{of}" + (f": {evidence}" if evidence else "")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


_LINE = re.compile(r":(?:L|line )?(\d{1,7})\b")
_BEGINNING = re.compile(r"[^\s\"'`()\[\]{}<>,;:|*]")
"""The start of a path: any other character may come before it."""
_LONGEST_PATH = 300
_MOST_LOOKED_AT = 200


def places_in(text: str, files: Container[str], root: Path) -> tuple[str, ...]:
    """The places that exist, as `file:line` and each once. `files` are paths from `root`."""
    found: dict[str, None] = {}
    for number, match in enumerate(_LINE.finditer(text)):
        if number == _MOST_LOOKED_AT:
            break
        line = int(match[1])
        path = next((path for path in _paths_before(text, match.start(), root) if path in files), None)
        if path is not None and _has_line(root / path, line):
            found[f"{path}:{line}"] = None
    return tuple(found)


def _paths_before(text: str, end: int, root: Path) -> Iterator[str]:
    """Possible paths that end here, the shortest first: names may contain spaces."""
    beginning = max(text.rfind("\n", 0, end) + 1, end - _LONGEST_PATH)
    for start in range(end - 1, beginning - 1, -1):
        is_first = start == 0 or not _BEGINNING.match(text[start - 1])
        if is_first and _BEGINNING.match(text[start]):
            path = text[start:end].rstrip("\"'`*")
            yield path.removeprefix(f"{root}/").removeprefix("./")


def _has_line(path: Path, line: int) -> bool:
    """A link leads elsewhere, and says nothing about the judged files."""
    content = begin_of_foreign(path, _MOST_BYTES)
    lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    return 1 <= line <= lines
