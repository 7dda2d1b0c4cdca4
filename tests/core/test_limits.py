"""Limits are positive, and a length of time is written as people write it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.core.limits import EFFORTS, SET_BY_EFFORT, limits_of, problem_of_duration, problems_of_constraints, seconds
from aotloop.core.model import Constraints, Duration


def problems(**limits: Any) -> list[str]:
    return [str(one) for one in problems_of_constraints(Constraints(**limits), ("objective", "constraints"))]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (90, 90.0),
        (0.5, 0.5),
        ("90", 90.0),
        ("90s", 90.0),
        ("30m", 1800.0),
        ("3h", 10800.0),
        ("2d", 172800.0),
        ("1h30m", 5400.0),
        ("1h 30m", 5400.0),
        ("1d2h3m4s", 93784.0),
        ("1.5h", 5400.0),
        (" 45 m ", 2700.0),
        ("45M", 2700.0),
    ],
)
def test_a_length_of_time_in_seconds(written: Duration, meant: float) -> None:
    assert seconds(written) == meant


@pytest.mark.parametrize(
    "written",
    ["", " ", "soon", "m", "m30", "30x", "-30m", "-5", "1.2.3s", ".", "0", "0s", "1e3", "inf", "nan", "9" * 400,
     0, -1, 0.0, -0.5, float("inf"), float("nan"), 10**400],
    ids=lambda value: str(value)[:8],
)  # fmt: skip
def test_what_is_not_a_positive_length_of_time_is_refused(written: Duration) -> None:
    with pytest.raises(ValueError):
        seconds(written)


@pytest.mark.parametrize("written", ["soon", 0, -1.5])
def test_a_bad_duration_is_reported_with_examples_of_good_ones(written: Duration) -> None:
    (problem,) = problem_of_duration(written, ("atoms", 0, "timeout"))
    assert str(problem) == (
        f"atoms[0].timeout: {written!r} is not a length of time; write seconds, or e.g. 90s, 30m, 1h30m"
    )
    assert problem.level == "error"


def test_a_duration_too_long_to_count_is_reported_like_any_other() -> None:
    assert [one.level for one in problem_of_duration(10**400, ("atoms", 0, "timeout"))] == ["error"]


@given(st.integers(0, 99), st.integers(0, 23), st.integers(0, 59), st.integers(1, 59))
def test_parts_of_a_duration_add_up(days: int, hours: int, minutes: int, rest: int) -> None:
    assert seconds(f"{days}d{hours}h{minutes}m{rest}s") == ((days * 24 + hours) * 60 + minutes) * 60 + rest


@given(st.text(max_size=12))
def test_any_text_is_either_a_positive_length_or_refused(text: str) -> None:
    try:
        length = seconds(text)
    except ValueError:
        return
    assert 0 < length < float("inf")


def test_the_defaults_are_within_their_limits() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    ("name", "lowest"),
    [
        ("max_iterations", 1),
        ("max_parallel_agents", 1),
        ("max_stall_count", 1),
        ("max_attempts", 1),
        ("max_total_attempts", 1),
        ("max_depth", 0),
        ("max_children", 1),
    ],
)
def test_each_count_has_a_lowest_value(name: str, lowest: int) -> None:
    assert problems(**{name: lowest}) == []
    assert problems(**{name: lowest - 1}) == [f"objective.constraints.{name}: {lowest - 1} is less than {lowest}"]


@pytest.mark.parametrize("cost", [0.0, -2.0, float("inf"), float("nan")])
def test_a_cost_limit_is_a_positive_amount(cost: float) -> None:
    assert problems(max_cost_usd=cost) == [f"objective.constraints.max_cost_usd: {cost:g} is not a positive amount"]


def test_cost_and_time_may_be_limited() -> None:
    assert problems(max_cost_usd=0.01, max_runtime="2h") == []


def test_a_runtime_that_is_no_duration_is_reported_at_its_key() -> None:
    (problem,) = problems(max_runtime="long")
    assert problem.startswith("objective.constraints.max_runtime: 'long' is not a length of time")


def test_all_problems_are_reported_at_once() -> None:
    assert len(problems(max_iterations=0, max_attempts=0, max_cost_usd=0.0, max_runtime=0)) == 4


@pytest.mark.parametrize("text", ["h", "1hh", "m30", "1h30", "1.2.3s", "-1s", "", "s1"])
def test_what_may_mean_several_things_or_nothing_is_no_length_of_time(text: str) -> None:
    with pytest.raises(ValueError):
        seconds(text)


def test_a_number_larger_than_any_float_is_no_length_of_time() -> None:
    with pytest.raises(ValueError, match="1000000"):
        seconds(10**400)


# --- effort ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effort", "expected"), [("low", (10, 2, 1, 4)), ("normal", (20, 3, 2, 10)), ("high", (60, 5, 3, 30))]
)
def test_effort_sets_the_limits_that_only_make_sense_together(effort: Any, expected: tuple[int, ...]) -> None:
    limits = limits_of(Constraints(effort=effort))
    assert (
        limits.max_iterations,
        limits.max_stall_count,
        limits.max_attempts,
        limits.attempts_per_atom,
    ) == expected


def test_without_a_word_about_it_effort_is_normal() -> None:
    assert limits_of(Constraints()) == limits_of(Constraints(effort="normal"))


@pytest.mark.parametrize("name", SET_BY_EFFORT)
def test_what_a_file_sets_itself_wins(name: str) -> None:
    given: dict[str, Any] = {name: 7}
    limits = limits_of(Constraints(effort="high", **given))
    assert getattr(limits, name) == 7
    others = [other for other in SET_BY_EFFORT if other != name]
    assert [getattr(limits, other) for other in others] == [getattr(EFFORTS["high"], other) for other in others]


def test_what_effort_does_not_set_is_what_the_file_says() -> None:
    given: dict[str, Any] = {
        "max_parallel_agents": 5, "max_total_attempts": 44, "max_depth": 1, "max_children": 2, "max_cost_usd": 1.5,
        "max_runtime": "2h", "verify_each_iteration": True,
    }  # fmt: skip
    for effort in EFFORTS:
        limits = limits_of(Constraints(effort=effort, **given))
        assert {name: getattr(limits, name) for name in given} == given
