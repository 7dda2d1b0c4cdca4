"""Scores of a quality check and the judgement they give. The same arithmetic counts for all judges.

A score counts only if it is on the scale. Without a score for every criterion there is no decision. Of several votes
the median counts for each criterion, so that one unusual judge decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from aotloop.core.checks.checklist import HIGHEST_SCORE, LOWEST_SCORE
from aotloop.core.model import Check, Criterion

SIMPLE = "overall"
"""The only criterion of a check that has `criteria` instead of a rubric."""


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    mean: float | None
    """The weighted mean. None: undecided."""
    passed: bool | None
    scores: dict[str, float]
    missing: tuple[str, ...] = ()
    """Criteria without a valid score."""


def criteria_of(check: Check) -> tuple[Criterion, ...]:
    if check.rubric is not None:
        return check.rubric
    return (Criterion(criterion=SIMPLE, weight=1.0, description=check.criteria),)


def grade(check: Check, votes: Sequence[Mapping[str, float]]) -> Grade:
    criteria = criteria_of(check)
    scores = {criterion.criterion: _median(criterion.criterion, votes) for criterion in criteria}
    given = {name: score for name, score in scores.items() if score is not None}
    missing = tuple(name for name, score in scores.items() if score is None)
    if missing or check.pass_threshold is None:
        return Grade(mean=None, passed=None, scores=given, missing=missing)
    total = sum(criterion.weight for criterion in criteria)
    mean = sum(criterion.weight * given[criterion.criterion] for criterion in criteria) / total
    # A mean that differs from the threshold only by rounding errors has reached it.
    return Grade(mean=mean, passed=mean >= check.pass_threshold - 1e-9, scores=given)


def _median(criterion: str, votes: Sequence[Mapping[str, float]]) -> float | None:
    """The median of the valid votes, if they are more than half of all votes."""
    scores = [vote[criterion] for vote in votes if criterion in vote and _is_on_scale(vote[criterion])]
    return float(median(scores)) if len(scores) * 2 > len(votes) else None


def _is_on_scale(score: float) -> bool:
    return LOWEST_SCORE <= score <= HIGHEST_SCORE
