"""Scores, weights and thresholds: computed by us, and undecided where something is missing."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.core.checks.quality import SIMPLE, criteria_of, grade
from aotloop.core.model import Check, Criterion

RUBRIC = (
    Criterion(criterion="Readability", weight=0.4),
    Criterion(criterion="Design", weight=0.4),
    Criterion(criterion="Tests", weight=0.2),
)


def a_check(threshold: float | None = 3.5, **more: Any) -> Check:
    more.setdefault("rubric", RUBRIC)
    return Check(type="quality", pass_threshold=threshold, **more)


def test_the_mean_is_weighted() -> None:
    found = grade(a_check(), [{"Readability": 5, "Design": 3, "Tests": 1}])
    assert found.mean == pytest.approx(0.4 * 5 + 0.4 * 3 + 0.2 * 1)
    assert found.passed is False


def test_weights_count_in_proportion() -> None:
    doubled = tuple(Criterion(criterion=one.criterion, weight=one.weight * 7) for one in RUBRIC)
    vote = {"Readability": 4, "Design": 2, "Tests": 5}
    assert grade(a_check(rubric=doubled), [vote]).mean == pytest.approx(grade(a_check(), [vote]).mean)


def test_the_threshold_itself_passes() -> None:
    assert grade(a_check(3.0), [dict.fromkeys(("Readability", "Design", "Tests"), 3.0)]).passed is True


def test_plain_criteria_are_one_criterion() -> None:
    check = a_check(3, rubric=None, criteria="short functions")
    assert criteria_of(check) == (Criterion(criterion=SIMPLE, weight=1.0, description="short functions"),)
    assert grade(check, [{SIMPLE: 4}]).passed is True


@pytest.mark.parametrize("score", [0, 0.99, 5.01, 6, -1, math.inf, -math.inf, math.nan])
def test_a_score_that_is_not_on_the_scale_is_none(score: float) -> None:
    found = grade(a_check(), [{"Readability": 4, "Design": score, "Tests": 4}])
    assert (found.passed, found.mean, found.missing) == (None, None, ("Design",))


def test_a_score_that_is_missing_leaves_it_undecided() -> None:
    found = grade(a_check(), [{"Readability": 5, "Design": 5, "Elegance": 5}])
    assert (found.passed, found.missing) == (None, ("Tests",))


def test_no_vote_decides_nothing() -> None:
    assert grade(a_check(), []).passed is None


def test_of_three_votes_the_median_counts() -> None:
    votes = [dict.fromkeys(("Readability", "Design", "Tests"), score) for score in (1, 4, 5)]
    assert grade(a_check(), votes).scores == {"Readability": 4, "Design": 4, "Tests": 4}


def test_of_three_votes_two_have_to_count() -> None:
    good = dict.fromkeys(("Readability", "Design", "Tests"), 4)
    assert grade(a_check(), [good, good, {}]).passed is True
    assert grade(a_check(), [good, {}, {"Design": 9}]).passed is None


@given(st.lists(st.dictionaries(st.sampled_from(["Readability", "Design", "Tests", "x"]), st.floats()), max_size=5))
def test_a_grade_is_on_the_scale_or_there_is_none(votes: list[dict[str, float]]) -> None:
    found = grade(a_check(), votes)
    assert found.mean is None or 1 <= found.mean <= 5 + 1e-9
    assert (found.mean is None) == (found.passed is None)


@given(st.lists(st.integers(1, 5), min_size=3, max_size=3), st.integers(0, 2))
def test_a_better_score_is_never_a_worse_grade(scores: list[int], better: int) -> None:
    names = [one.criterion for one in RUBRIC]
    before = grade(a_check(), [dict(zip(names, scores, strict=True))]).mean
    scores[better] = min(5, scores[better] + 1)
    after = grade(a_check(), [dict(zip(names, scores, strict=True))]).mean
    assert before is not None
    assert after is not None
    assert after >= before


def test_more_than_half_of_all_votes_have_to_count() -> None:
    check = a_check(3, rubric=None, criteria="short functions")
    nonsense = {SIMPLE: 9}
    assert grade(check, [{SIMPLE: 4}, {SIMPLE: 4}, nonsense, nonsense]).mean is None
    assert grade(check, [{SIMPLE: 4}, {SIMPLE: 4}, nonsense]).mean == 4


def test_what_is_undecided_tells_the_scores_there_are_and_those_that_are_missing() -> None:
    found = grade(a_check(), [{"Readability": 4, "Tests": 5}])
    assert (found.mean, found.passed, found.missing) == (None, None, ("Design",))
    assert found.scores == {"Readability": 4, "Tests": 5}


def test_without_a_threshold_nothing_is_decided() -> None:
    found = grade(a_check(None), [dict.fromkeys(("Readability", "Design", "Tests"), 3)])
    assert (found.mean, found.passed, found.missing) == (None, None, ())
