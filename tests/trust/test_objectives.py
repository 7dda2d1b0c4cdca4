"""What was agreed on is remembered out of reach of whoever can write the state file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from msgspec.structs import replace

from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints, Objective
from aotloop.errors import Unavailable
from aotloop.trust.objectives import agree, agreed, difference
from tests.loops import a_loop, atom, objectives

OBJECTIVE = a_loop(atom("A1")).objective


def test_nothing_is_agreed_on_before_somebody_does(project: Path) -> None:
    assert agreed(str(project / "x.md")) is None


def test_what_was_agreed_on_last_counts(project: Path) -> None:
    here = str(project / "x.md")
    agree(here, OBJECTIVE)
    assert agreed(here) == OBJECTIVE
    other = replace(OBJECTIVE, goal="another", constraints=Constraints(max_runtime="3h", max_cost_usd=2.5))
    agree(here, other)
    assert agreed(here) == other
    assert agreed(str(project / "y.md")) is None


def test_one_file_has_many_names(project: Path) -> None:
    (project / "x.md").touch()
    (project / "link.md").symlink_to(project / "x.md")
    agree("x.md", OBJECTIVE)
    assert agreed(str(project / "link.md")) == OBJECTIVE


def test_it_is_kept_in_the_home_of_the_user_and_readable_by_a_person(project: Path, own_home: Path) -> None:
    agree(str(project / "x.md"), OBJECTIVE)
    (record,) = (own_home / ".local" / "share" / "aotloop" / "objectives").iterdir()
    assert '"goal": "It works"' in record.read_text()
    assert str(project / "x.md") in record.read_text()


def test_a_damaged_record_is_as_good_as_none(project: Path, own_home: Path) -> None:
    here = str(project / "x.md")
    agree(here, OBJECTIVE)
    (record,) = (own_home / ".local" / "share" / "aotloop" / "objectives").iterdir()
    record.write_text('{"state_file": ')
    assert agreed(here) is None
    agree(here, OBJECTIVE)
    assert agreed(here) == OBJECTIVE


def test_a_home_that_cannot_be_written_to_is_said_to_be_so(own_home: Path) -> None:
    (own_home / ".local").write_text("a file where a folder should be")
    with pytest.raises(Unavailable, match="what was agreed on cannot be remembered"):
        agree("x.md", OBJECTIVE)
    assert agreed("x.md") is None


def test_the_difference_is_told_key_by_key() -> None:
    changed = replace(OBJECTIVE, goal="else", protect=("tests/**",), constraints=Constraints(max_iterations=9))
    assert difference(OBJECTIVE, changed) == [
        '-goal: "It works"',
        '+goal: "else"',
        "-constraints.max_iterations: 20",
        "+constraints.max_iterations: 9",
        "-protect: []",
        '+protect[0]: "tests/**"',
    ]
    assert difference(OBJECTIVE, OBJECTIVE) == []


def test_a_limit_that_is_not_set_is_the_one_in_force() -> None:
    """As an agreement of the version before has it: with every default written out, and without a word of effort."""
    written = Constraints(max_iterations=20, max_stall_count=3, max_attempts=2)
    before = replace(OBJECTIVE, constraints=written)
    assert difference(before, OBJECTIVE) == []
    assert difference(before, replace(OBJECTIVE, constraints=Constraints(effort="high"))) == [
        "-constraints.max_iterations: 20",
        "+constraints.max_iterations: 60",
        "-constraints.max_stall_count: 3",
        "-constraints.max_attempts: 2",
        "+constraints.max_stall_count: 5",
        "+constraints.max_attempts: 3",
        '-constraints.effort: "normal"',
        '+constraints.effort: "high"',
    ]


def test_more_attempts_than_were_agreed_on_differ() -> None:
    more = replace(OBJECTIVE, constraints=Constraints(max_total_attempts=500))
    assert difference(OBJECTIVE, more) == ["+constraints.max_total_attempts: 500"]
    high = Constraints(effort="high", max_iterations=20, max_stall_count=3, max_attempts=2)
    assert difference(OBJECTIVE, replace(OBJECTIVE, constraints=high)) == [
        '-constraints.effort: "normal"',
        '+constraints.effort: "high"',
    ]


def test_what_only_looks_the_same_differs() -> None:
    number = replace(OBJECTIVE, constraints=Constraints(max_runtime=90))
    text = replace(OBJECTIVE, constraints=Constraints(max_runtime="90"))
    assert difference(number, text) == ["-constraints.max_runtime: 90", '+constraints.max_runtime: "90"']
    lines = replace(OBJECTIVE, goal="It works\n---\nor does it")
    assert difference(OBJECTIVE, lines) == ['-goal: "It works"', '+goal: "It works\\n---\\nor does it"']


def test_a_check_that_was_softened_is_seen() -> None:
    def listed(value: str) -> Objective:
        item = ChecklistItem(item="tests", check=Check(type="command", value=value))
        return replace(OBJECTIVE, base_case=BaseCase(checklist=(item,)))

    assert difference(listed("make test"), listed("true")) == [
        '-base_case.checklist[0].check.value: "make test"',
        '+base_case.checklist[0].check.value: "true"',
    ]


@given(objectives, objectives)
def test_objectives_differ_where_a_difference_is_told_and_only_there(before: Objective, now: Objective) -> None:
    assert bool(difference(before, now)) == (before != now)


@given(objectives)
def test_every_objective_comes_back_as_it_was(objective: Objective) -> None:
    agree("x.md", objective)
    assert agreed("x.md") == objective
