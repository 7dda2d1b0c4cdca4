"""Two objectives have the same digest exactly if the same is wanted and the same decides that it is done."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints, Criterion, Loop, Objective, Verdict
from aotloop.core.objective import digest_of, fresh_verdict
from aotloop.errors import IllegalEvent
from tests.core.happenings import decompose, fail, resolve
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


HEAD = "c" * 40


def judged_at(loop: Loop) -> Loop:
    verdict = Verdict(passed=True, objective_digest=digest_of(loop.objective), at="then", commit=HEAD)
    advance(loop, events.VerdictReached(verdict=verdict))
    return loop


def is_fresh(loop: Loop) -> bool:
    return fresh_verdict(loop, HEAD) is not None


def a_judged_loop() -> Loop:
    atoms = [atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g"), atom("A3"), atom("A4", "A1")]
    return judged_at(a_loop(*atoms))


def test_it_is_fresh_as_long_as_nothing_happens_and_after_what_only_begins() -> None:
    loop = a_judged_loop()
    assert is_fresh(loop)
    advance(loop, events.AtomStarted(atom="A3"))
    advance(loop, events.AtomAbandoned(atom="A3"))
    advance(loop, events.AtomResolved(atom="A1", at="noon"))  # which it is already
    decompose(loop, "A3", "A5", "A6")
    advance(loop, events.GenerationBegan())
    assert is_fresh(loop)


@pytest.mark.parametrize(
    "happens",
    [
        lambda loop: resolve(loop, "A3"),
        lambda loop: fail(loop, "A3"),
        lambda loop: advance(loop, events.BranchSwitched(or_group="g", choice="A2", reason="no", at="noon")),
        lambda loop: advance(loop, events.ChoiceForced(or_group="g", choice="A2", description="that one", at="noon")),
    ],
    ids=["resolved", "failed", "reset", "reset by a person"],
)
def test_it_is_not_after_an_atom_was_resolved_reset_or_has_failed(happens: Any) -> None:
    loop = a_judged_loop()
    happens(loop)
    assert not is_fresh(loop)
    assert is_fresh(judged_at(loop))


def test_it_is_of_one_commit_and_of_one_objective() -> None:
    loop = a_judged_loop()
    assert fresh_verdict(loop, "d" * 40) is None
    assert fresh_verdict(loop, None) is None
    loop.objective = replace(loop.objective, goal="something else")
    assert not is_fresh(loop)


def test_without_git_there_is_no_commit_on_either_side() -> None:
    loop = a_loop(atom("A1"))
    verdict = Verdict(passed=False, objective_digest=digest_of(loop.objective), at="then", failing=("tests",))
    advance(loop, events.VerdictReached(verdict=verdict))
    assert fresh_verdict(loop, None) is not None


@given(st.lists(st.sampled_from(["start", "resolve", "fail", "abandon"]), max_size=12))
def test_once_outdated_it_stays_so_until_there_is_another(moves: list[str]) -> None:
    loop = a_judged_loop()
    resolve(loop, "A3")
    kinds: dict[str, Any] = {
        "start": events.AtomStarted(atom="A4"),
        "resolve": events.AtomResolved(atom="A4", at="noon"),
        "fail": events.AtomFailed(atom="A4", reason="no", at="noon"),
        "abandon": events.AtomAbandoned(atom="A4"),
    }
    for move in moves:
        with suppress(IllegalEvent):
            advance(loop, kinds[move])
        assert not is_fresh(loop)


def test_without_a_verdict_nothing_is_fresh() -> None:
    assert fresh_verdict(a_loop(atom("A1")), HEAD) is None


def test_what_is_outdated_already_is_not_written_again() -> None:
    loop = a_judged_loop()
    fail(loop, "A3")
    verdict = loop.control.verdict
    assert verdict is not None
    assert verdict.outdated
    fail(loop, "A4")
    assert loop.control.verdict is verdict
