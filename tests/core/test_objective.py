"""Two objectives have the same digest exactly if the same is wanted and the same decides that it is done."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints, Criterion, Objective
from aotloop.core.objective import digest_of
from tests.loops import a_loop, atom, objectives

OBJECTIVE = a_loop(atom("A1")).objective


def judged(**levels: str) -> Objective:
    scale = {int(name[1:]): text for name, text in levels.items()}
    rubric = (Criterion(criterion="clear", weight=1.0, levels=scale),)
    check = Check(type="quality", rubric=rubric, pass_threshold=3)
    return replace(OBJECTIVE, base_case=BaseCase(checklist=(ChecklistItem(item="code", check=check),)))


@pytest.mark.parametrize(
    "change",
    [
        {"goal": "It flies"},
        {"background_intent": "fun"},
        {"deliverables": "a wing"},
        {"definition_of_done": "it flew"},
        {"protect": ("tests/**",)},
        {"base_case": BaseCase(type="command", value="false")},
        {"base_case": BaseCase(type="not_command", value="true")},
        {"base_case": BaseCase(checklist=())},
    ],
    ids=str,
)
def test_a_change_of_anything_but_limits_is_another_objective(change: dict[str, Any]) -> None:
    assert digest_of(replace(OBJECTIVE, **change)) != digest_of(OBJECTIVE)


def test_limits_do_not_make_another_objective() -> None:
    limits = Constraints(
        max_iterations=1,
        max_parallel_agents=9,
        max_stall_count=9,
        max_attempts=9,
        max_depth=9,
        max_children=9,
        max_cost_usd=9.0,
        max_runtime="9h",
        verify_each_iteration=True,
    )
    assert digest_of(replace(OBJECTIVE, constraints=limits)) == digest_of(OBJECTIVE)


def test_every_field_of_an_objective_but_its_constraints_is_tried_above() -> None:
    assert set(Objective.__struct_fields__) == {
        "goal", "background_intent", "deliverables", "definition_of_done", "protect", "base_case", "constraints",
    }  # fmt: skip


def test_the_order_in_which_levels_are_written_does_not_matter() -> None:
    assert digest_of(judged(_1="bad", _5="good")) == digest_of(judged(_5="good", _1="bad"))


def test_a_reworded_level_is_another_objective() -> None:
    assert digest_of(judged(_1="bad", _5="good")) != digest_of(judged(_1="bad", _5="fine"))


def test_a_digest_is_short_and_printable() -> None:
    assert len(digest_of(OBJECTIVE)) == 16
    assert set(digest_of(OBJECTIVE)) <= set("0123456789abcdef")


@given(objectives, objectives)
def test_equal_digests_mean_equal_objectives(one: Objective, other: Objective) -> None:
    bare = [replace(objective, constraints=Constraints()) for objective in (one, other)]
    assert (digest_of(one) == digest_of(other)) == (bare[0] == bare[1])
    assert digest_of(one) == digest_of(replace(one, constraints=other.constraints))


def test_the_digest_of_an_objective_is_what_it_was_in_earlier_versions() -> None:
    """It is kept in files and in what a person agreed to; a new kind of limit does not change it."""
    assert digest_of(OBJECTIVE) == "00a6abf9237ad251"
    assert digest_of(judged(_1="bad", _5="good")) == "5bff099607e73eb6"
    more = Constraints(effort="high", max_total_attempts=9)
    assert digest_of(replace(OBJECTIVE, constraints=more)) == digest_of(OBJECTIVE)
