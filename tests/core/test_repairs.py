"""All is resolved and a check fails: what fails is repaired, so many times; then another choice is to blame."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.conflicts import conflict_set
from aotloop.core.effects import Added, Backtracked, CheckParent, Effect, Exhausted
from aotloop.core.events import AtomFailed, AtomResolved, AtomStarted, BaseCaseFailed, VerdictReached
from aotloop.core.graph import Graph
from aotloop.core.machine import advance
from aotloop.core.model import Atom, AtomCheck, Constraints, Decomposition, Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.repairs import LONGEST_EVIDENCE, forget_rounds
from tests.core.generated import errors_of
from tests.core.refusing import refused
from tests.loops import a_loop, atom

PASSES = AtomCheck(type="command", value="true")


def resolve(loop: Loop, atom_id: str) -> list[Effect]:
    advance(loop, AtomStarted(atom=atom_id))
    return advance(loop, AtomResolved(atom=atom_id, summary="done"))


def fail(loop: Loop, atom_id: str) -> list[Effect]:
    advance(loop, AtomStarted(atom=atom_id))
    return advance(loop, AtomFailed(atom=atom_id, reason="it broke", at="noon"))


def judge(loop: Loop, **failing: str) -> list[Effect]:
    """All is resolved, and these items fail."""
    verdict = Verdict(passed=False, objective_digest=digest_of(loop.objective), at="noon", failing=tuple(failing))
    advance(loop, VerdictReached(verdict=verdict))
    return advance(loop, BaseCaseFailed(failing=failing, at="noon"))


def rounds(loop: Loop) -> dict[str, int]:
    assert loop.control.verdict is not None
    return loop.control.verdict.repair_rounds


def repairs(loop: Loop) -> list[str]:
    return [one.id for one in loop.atoms if one.repairs is not None]


def all_done(*more: Atom, attempts: int = 2, **terms: Any) -> Loop:
    done = (atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"), atom("Z", "X", status="resolved"))
    return a_loop(*done, *more, constraints=Constraints(max_attempts=attempts), **terms)


# --- of the base case --------------------------------------------------------------------------------------------


def test_every_failing_item_becomes_a_repair_that_carries_its_evidence() -> None:
    loop = all_done()
    assert judge(loop, lint="E501", tests="2 failed") == [Added(atoms=("A1", "A2"))]
    first, second = loop.atoms[-2:]
    assert (first.repairs, second.repairs) == ("lint", "tests")
    assert '"tests"' in second.description
    assert "2 failed" in second.description
    assert (second.status, second.depends_on, second.whole) == ("pending", (), True)
    assert Graph(loop).ready() == ["A1", "A2"]
    assert errors_of(loop) == []


def test_long_evidence_is_cut() -> None:
    loop = all_done()
    judge(loop, tests="x" * 2 * LONGEST_EVIDENCE)
    assert len(loop.atoms[-1].description) < LONGEST_EVIDENCE + 100
    assert loop.atoms[-1].description.endswith("…")


def test_rounds_are_counted_per_item() -> None:
    loop = all_done(attempts=3)
    judge(loop, lint="E501", tests="red")
    resolve(loop, "A1")
    resolve(loop, "A2")
    judge(loop, tests="red")
    assert rounds(loop) == {"lint": 1, "tests": 2}


@pytest.mark.parametrize("allowed", [1, 2, 3])
def test_there_are_as_many_rounds_as_attempts_and_then_another_choice_is_blamed(allowed: int) -> None:
    loop = all_done(attempts=allowed)
    for _ in range(allowed):
        (added,) = judge(loop, tests="red")
        assert isinstance(added, Added)
        resolve(loop, added.atoms[0])
    (switched,) = judge(loop, tests="red")
    assert isinstance(switched, Backtracked)
    assert (switched.left, switched.selected) == ("X", "Y")
    assert list(loop.or_groups["g"].blamed) == ["X"], "nothing was wrong with it by itself"
    assert loop.or_groups["g"].failed == ()
    assert f"after {allowed} rounds of repair: tests" in loop.trail[-1].reason
    assert errors_of(loop) == []


def test_with_no_choice_left_to_blame_nothing_can_be_done() -> None:
    loop = a_loop(atom("Z", status="resolved"), constraints=Constraints(max_attempts=1))
    judge(loop, tests="red")
    resolve(loop, "A1")
    assert judge(loop, tests="red") == [Exhausted(atom=None)]
    assert repairs(loop) == ["A1"]


def test_a_group_nobody_needs_is_not_to_blame() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="resolved"),
        atom("Y", or_group="g"),
        atom("V", or_group="h"),
        atom("W", or_group="h"),
        atom("U", "V", or_group="g"),
        constraints=Constraints(max_attempts=1),
    )
    judge(loop, tests="red")
    resolve(loop, "A1")
    judge(loop, tests="red")
    assert loop.or_groups["h"].selected == "V"
    assert loop.or_groups["g"].selected == "Y"


def test_a_backtrack_drops_repairs_takes_back_resolved_ones_and_forgets_the_rounds() -> None:
    loop = all_done(attempts=1)
    judge(loop, lint="E501", tests="red")
    resolve(loop, "A1")
    (switched,) = fail(loop, "A2")
    assert switched == Backtracked(
        or_group="g", left="X", selected="Y", reset=("X", "Z"), dropped=("A1", "A2"), undone=("A1", "X", "Z")
    )
    assert (repairs(loop), rounds(loop)) == ([], {})
    assert "A1" not in loop.bindings
    assert errors_of(loop) == []


def test_the_next_choice_has_its_own_rounds() -> None:
    loop = all_done(attempts=1)
    judge(loop, tests="red")
    resolve(loop, "A1")
    judge(loop, tests="red")
    resolve(loop, "Y")
    resolve(loop, "Z")
    assert judge(loop, tests="red") == [Added(atoms=("A1",))]
    resolve(loop, "A1")
    assert judge(loop, tests="red") == [Exhausted(atom=None)]


def test_a_repair_rests_on_every_group() -> None:
    loop = all_done(atom("V", or_group="h", status="resolved"), atom("W", or_group="h"))
    judge(loop, tests="red")
    assert conflict_set(Graph(loop), "A1") == {"g", "h"}


def test_a_repair_that_fails_for_good_blames_a_choice() -> None:
    loop = all_done(attempts=1)
    judge(loop, tests="red")
    (switched,) = fail(loop, "A1")
    assert isinstance(switched, Backtracked)
    assert (switched.selected, switched.dropped) == ("Y", ("A1",))
    assert list(loop.or_groups["g"].blamed) == ["X"]


def test_a_repair_that_may_try_again_is_kept() -> None:
    loop = all_done(attempts=2)
    judge(loop, tests="red")
    fail(loop, "A1")
    assert (repairs(loop), loop.or_groups["g"].selected) == (["A1"], "X")


def test_repairs_are_not_asked_for_before_all_is_resolved() -> None:
    loop = a_loop(atom("A1"))
    verdict = Verdict(passed=False, objective_digest=digest_of(loop.objective), at="noon", failing=("tests",))
    advance(loop, VerdictReached(verdict=verdict))
    with refused(loop, "not resolved yet: A1"):
        advance(loop, BaseCaseFailed(failing={"tests": "red"}, at="noon"))


@pytest.mark.parametrize("failing", [{}, {"tests": "red"}])
def test_repairs_need_a_verdict_with_failing_items(failing: dict[str, str]) -> None:
    loop = a_loop(atom("A1", status="resolved"))
    with refused(loop, "no verdict with failing items is recorded"):
        advance(loop, BaseCaseFailed(failing=failing, at="noon"))


# --- of a parent -------------------------------------------------------------------------------------------------


def a_parent(attempts: int = 3, *others: Atom) -> Loop:
    return a_loop(
        atom("P", check=PASSES),
        atom("C", status="resolved"),
        *others,
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
        constraints=Constraints(max_attempts=attempts),
    )


def check_failed(loop: Loop) -> list[Effect]:
    return advance(loop, AtomFailed(atom="P", reason="the parts do not fit", at="noon"))


def test_a_parent_that_fails_its_check_waits_for_one_more_part() -> None:
    loop = a_parent()
    assert check_failed(loop) == [Added(atoms=("A1",))]
    assert (loop.atoms[-1].repairs, Graph(loop).children_of["P"]) == ("P", ("C", "A1"))
    assert resolve(loop, "A1") == [CheckParent(atom="P")]


def test_the_check_of_a_parent_is_repaired_a_bounded_number_of_times() -> None:
    loop = a_parent(attempts=3)
    for repair in ("A1", "A2"):
        assert check_failed(loop) == [Added(atoms=(repair,))]
        resolve(loop, repair)
    assert check_failed(loop) == [Exhausted(atom="P")]


def test_the_repair_of_a_parent_is_dropped_when_the_parent_is_given_up() -> None:
    loop = a_loop(
        atom("X", or_group="g", check=PASSES),
        atom("Y", or_group="g"),
        atom("C", status="resolved"),
        decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
        constraints=Constraints(max_attempts=2),
    )
    advance(loop, AtomFailed(atom="X", reason="no", at="noon"))
    resolve(loop, "A1")
    (switched,) = advance(loop, AtomFailed(atom="X", reason="no", at="noon"))
    assert isinstance(switched, Backtracked)
    assert (switched.dropped, switched.undone) == (("A1",), ("A1", "C"))
    assert loop.decompositions == [Decomposition(parent="X", children=("C",), reason="parts")]
    assert errors_of(loop) == []


def test_the_repair_of_a_parent_survives_a_switch_that_does_not_concern_it() -> None:
    loop = a_parent(2, atom("X", or_group="g", attempts=1), atom("Y", or_group="g"))
    check_failed(loop)
    fail(loop, "X")
    assert loop.or_groups["g"].selected == "Y"
    assert repairs(loop) == ["A1"]


@pytest.mark.parametrize(("length", "end"), [(LONGEST_EVIDENCE, "x"), (LONGEST_EVIDENCE + 1, "x…")])
def test_evidence_is_told_up_to_a_length_and_no_further(length: int, end: str) -> None:
    loop = a_loop(atom("A1", status="resolved"))
    judge(loop, tests="x" * length)
    told = loop.atoms[-1].description.partition("It fails: ")[2]
    assert told == "x" * (LONGEST_EVIDENCE - 1) + end


def test_rounds_that_nobody_made_need_not_be_forgotten() -> None:
    loop = a_loop(atom("A1"))
    for verdict in (None, Verdict(passed=False, objective_digest="d", at="noon")):
        loop.control = control = replace(loop.control, verdict=verdict)
        forget_rounds(loop)
        assert loop.control is control
