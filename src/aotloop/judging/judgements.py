"""What follows from the answers: a judgement, with evidence in which every score stands with the places it rests on.

A score counts only if its evidence names a line that is there; but for the lowest one, since what is missing cannot be
quoted. What does not count is missing, and without a score for every criterion nothing is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from aotloop.agents.contract import Judged, MustWait, Outcome, Scored
from aotloop.agents.results import Score
from aotloop.agents.wording import cut, one_line
from aotloop.core.checklist import LOWEST_SCORE
from aotloop.core.model import Check
from aotloop.core.quality import SIMPLE, Grade, criteria_of, grade
from aotloop.verify.judge import Judgement

_LONGEST_EVIDENCE = 500
"""Of one criterion, or of a failure."""
_LONGEST = 6000
_MOST_CRITERIA = 40

FindPlaces = Callable[[str], tuple[str, ...]]
"""The places in a text that are there; see aotloop.judging.places."""


class _Vote(msgspec.Struct, frozen=True, kw_only=True):
    scores: Mapping[str, Score] = {}
    unbacked: tuple[str, ...] = ()
    """Criteria whose score rests on no place that is there."""
    problem: str | None = None
    """Why there is none."""


def assertion_judged(outcome: Outcome) -> Judgement:
    if not isinstance(outcome, Judged):
        return Judgement(passed=None, evidence=_why_not(outcome))
    if outcome.passed:
        return Judgement(passed=True, evidence=f"an agent finds it so: {one_line(outcome.evidence, _LONGEST)}")
    failures = [one_line(one, _LONGEST_EVIDENCE) for one in outcome.failures] or [one_line(outcome.evidence, _LONGEST)]
    return Judgement(passed=False, evidence=cut(f"an agent finds it not so: {'; '.join(failures)}", _LONGEST))


def quality_judged(check: Check, outcomes: Sequence[Outcome], find_places: FindPlaces) -> Judgement:
    votes = [_vote(check, outcome, find_places) for outcome in outcomes]
    result = grade(check, [{name: one.score for name, one in vote.scores.items()} for vote in votes])
    lines = [_headline(check, result, votes)]
    lines += _lines(check, result, votes)
    return Judgement(passed=result.passed, evidence=cut("\n".join(lines), _LONGEST), scores=result.scores)


def _vote(check: Check, outcome: Outcome, find_places: FindPlaces) -> _Vote:
    if not isinstance(outcome, Scored):
        return _Vote(problem=_why_not(outcome))
    names = [one.criterion for one in criteria_of(check)]
    given = {_meant(one.criterion, names): one for one in outcome.scores}
    known = {name: one for name, one in given.items() if name in names}
    unbacked = tuple(name for name, one in known.items() if one.score != LOWEST_SCORE and not find_places(one.evidence))
    return _Vote(scores={name: one for name, one in known.items() if name not in unbacked}, unbacked=unbacked)


def _meant(said: str, names: Sequence[str]) -> str:
    """A name as it was told: on one line. The only criterion of all can be meant by no other."""
    told = {one_line(name, len(name)): name for name in names}
    return names[0] if list(names) == [SIMPLE] else told.get(one_line(said, len(said)), said)


def _why_not(outcome: Outcome) -> str:
    if isinstance(outcome, MustWait):
        return f"the judge could not be asked now: {one_line(outcome.reason, _LONGEST_EVIDENCE)}"
    reason = getattr(outcome, "reason", "it answered as somebody would who has another role")
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
    told = f"not judged: {', '.join(missing)}"
    return f"{told}; of {len(votes)} votes, {'; '.join(problems)}" if problems else told


def _lines(check: Check, result: Grade, votes: Sequence[_Vote]) -> list[str]:
    """The worst first: whoever is to mend it may see only the beginning."""
    names = [one.criterion for one in criteria_of(check) if one.criterion in result.scores][:_MOST_CRITERIA]
    return [_line(name, result.scores[name], votes) for name in sorted(names, key=lambda one: result.scores[one])]


def _line(name: str, score: float, votes: Sequence[_Vote]) -> str:
    given = [vote.scores[name] for vote in votes if name in vote.scores]
    nearest = min(given, key=lambda one: (abs(one.score - score), one.score))
    of = f" (votes: {', '.join(_number(one.score) for one in given)})" if len(votes) > 1 else ""
    said = one_line(nearest.evidence, _LONGEST_EVIDENCE)
    return f"- {one_line(name, 80)} {_number(score)}{of}" + (f": {said}" if said else "")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
