"""All is resolved and a check fails: what fails is repaired, so many times; then another choice is to blame."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import Added, Backtracked, CheckParent, Effect, Exhausted, Reopened, Retry
from aotloop.core.events import AtomFailed, AtomResolved, AtomStarted, BaseCaseFailed, VerdictReached
from aotloop.core.graph.conflict_set import conflict_set
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.repairs import LONGEST_EVIDENCE, forget_rounds
from aotloop.core.machine import advance
from aotloop.core.model import (
    Atom,
    AtomCheck,
    BaseCase,
    Check,
    ChecklistItem,
    Constraints,
    Decomposition,
    Loop,
    Verdict,
)
from aotloop.core.objective import digest_of
from aotloop.core.policy.turns import patience
from tests.core.generated import errors_of
from tests.core.refusing import refused
from tests.loops import a_large_loop as a_loop
from tests.loops import atom

PASSES = AtomCheck(type="command", value="true")
PATIENT = patience(a_loop(atom("A1")))
"""Of a loop in which nothing was resolved yet."""


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


def after_rounds(loop: Loop, count: int = PATIENT) -> Loop:
    """The base case was tried, in vain, after so many rounds of repair; what they came to is forgotten."""
    judge(loop, tests="red")
    loop.atoms = [one for one in loop.atoms if one.repairs is None]
    assert loop.control.verdict is not None
    counted = replace(loop.control.verdict, repair_rounds={"tests": count})
    loop.control = replace(loop.control, verdict=counted)
    return loop


@pytest.mark.parametrize(("won", "needed"), [(0, 0), (3, 3)])
def test_there_are_rounds_of_repair_as_long_as_patience_lasts_and_then_another_choice_is_blamed(
    won: int, needed: int
) -> None:
    loop = all_done()
    loop.control = replace(loop.control, won=won, needed=needed)
    allowed = patience(loop)
    for _ in range(allowed):
        (added,) = judge(loop, tests="red")
        assert isinstance(added, Added)
        resolve(loop, added.atoms[0])
    (switched,) = judge(loop, tests="red")
    assert isinstance(switched, Backtracked)
    assert (switched.left, switched.selected) == ("X", "Y")
    assert list(loop.or_groups["g"].blamed) == ["X"], "nothing was wrong with it by itself"
    assert (loop.or_groups["g"].failed, loop.or_groups["g"].blames) == ((), {"X": 1})
    assert f"after {allowed} rounds of repair: tests" in loop.trail[-1].reason
    assert errors_of(loop) == []


def test_an_item_for_which_patience_is_over_counts_though_others_fail_for_the_first_time() -> None:
    loop = after_rounds(all_done())
    (switched,) = judge(loop, lint="E501", tests="red")
    assert isinstance(switched, Backtracked)
    assert loop.trail[-1].reason.endswith("rounds of repair: tests")


def test_with_no_choice_left_to_blame_nothing_can_be_done() -> None:
    loop = after_rounds(a_loop(atom("Z", status="resolved")))
    assert judge(loop, tests="red") == [Exhausted(atom=None)]
    assert repairs(loop) == []


def test_a_group_nobody_needs_is_not_to_blame() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="resolved"),
        atom("Y", or_group="g"),
        atom("V", or_group="h"),
        atom("W", or_group="h"),
        atom("U", "V", or_group="g"),
    )
    judge(after_rounds(loop), tests="red")
    assert loop.or_groups["h"].selected == "V"
    assert loop.or_groups["g"].selected == "Y"


def worn_out(loop: Loop, atom_id: str) -> Loop:
    """Its next failure is the last that patience allows."""
    loop.atoms = [replace(one, attempts=PATIENT - 1) if one.id == atom_id else one for one in loop.atoms]
    return loop


def test_a_backtrack_drops_repairs_takes_back_resolved_ones_and_forgets_the_rounds() -> None:
    loop = all_done()
    judge(loop, lint="E501", tests="red")
    resolve(loop, "A1")
    (switched,) = fail(worn_out(loop, "A2"), "A2")
    assert switched == Backtracked(
        or_group="g", left="X", selected="Y", reset=("X", "Z"), dropped=("A1", "A2"), undone=("A1", "X", "Z")
    )
    assert (repairs(loop), rounds(loop)) == ([], {})
    assert "A1" not in loop.bindings
    assert errors_of(loop) == []


def test_the_next_choice_has_its_own_rounds_and_then_the_first_has_its_turn_again() -> None:
    loop = after_rounds(all_done())
    judge(loop, tests="red")
    resolve(loop, "Y")
    resolve(loop, "Z")
    assert judge(loop, tests="red") == [Added(atoms=("A1",))]
    loop.atoms.pop()
    (switched,) = judge(after_rounds(loop), tests="red")
    assert isinstance(switched, Backtracked)
    assert (switched.left, switched.selected, loop.or_groups["g"].round) == ("Y", "X", 1)


def test_a_repair_rests_on_every_group() -> None:
    loop = all_done(atom("V", or_group="h", status="resolved"), atom("W", or_group="h"))
    judge(loop, tests="red")
    assert conflict_set(Graph(loop), "A1") == {"g", "h"}


def test_a_repair_that_fails_as_long_as_patience_lasts_blames_a_choice() -> None:
    loop = all_done()
    judge(loop, tests="red")
    for number in range(1, PATIENT):
        assert fail(loop, "A1") == [Retry(atom="A1", attempts=number, allowed=PATIENT)]
        assert (repairs(loop), loop.or_groups["g"].selected) == (["A1"], "X")
    (switched,) = fail(loop, "A1")
    assert isinstance(switched, Backtracked)
    assert (switched.selected, switched.dropped) == ("Y", ("A1",))
    assert list(loop.or_groups["g"].blamed) == ["X"]


def test_a_repair_whose_failure_is_final_blames_a_choice_at_once() -> None:
    loop = all_done()
    judge(loop, tests="red")
    advance(loop, AtomStarted(atom="A1"))
    (switched,) = advance(loop, AtomFailed(atom="A1", reason="no", at="noon", final=True))
    assert isinstance(switched, Backtracked)


def test_what_repairs_need_says_nothing_about_other_atoms() -> None:
    loop = all_done()
    judge(loop, tests="red")
    fail(loop, "A1")
    resolve(loop, "A1")
    assert (loop.control.won, loop.control.needed, loop.control.tried) == (0, 0, 2)


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


def test_the_check_of_a_parent_is_repaired_as_long_as_patience_lasts() -> None:
    loop = a_parent()
    for number in range(1, PATIENT):
        assert check_failed(loop) == [Added(atoms=(f"A{number}",))]
        resolve(loop, f"A{number}")
    assert check_failed(loop) == [Exhausted(atom="P")]


def test_the_repair_of_a_parent_is_dropped_when_the_parent_is_given_up() -> None:
    loop = a_loop(
        atom("X", or_group="g", check=PASSES),
        atom("Y", or_group="g"),
        atom("C", status="resolved"),
        decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
    )
    advance(loop, AtomFailed(atom="X", reason="no", at="noon"))
    resolve(loop, "A1")
    (switched,) = advance(worn_out(loop, "X"), AtomFailed(atom="X", reason="no", at="noon"))
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


# --- items that an atom covers -----------------------------------------------------------------------------------

CHECKLIST = BaseCase(
    checklist=(
        ChecklistItem(item="tests", check=Check(type="command", value="make test")),
        ChecklistItem(item="lint", check=Check(type="command", value="make lint")),
        ChecklistItem(
            item="docs",
            group=(
                ChecklistItem(item="readme", check=Check(type="file", value="README.md")),
                ChecklistItem(
                    item="guide",
                    any_of=(
                        ChecklistItem(item="html", check=Check(type="file", value="guide.html")),
                        ChecklistItem(item="pdf", check=Check(type="file", value="guide.pdf")),
                    ),
                ),
            ),
        ),
    )
)


def covering(*atoms: Atom, **more: Any) -> Loop:
    return a_loop(*atoms, base_case=CHECKLIST, **more)


def test_an_atom_that_covers_a_failing_item_is_reopened_instead_of_a_repair() -> None:
    loop = covering(atom("A1", status="resolved", covers=("tests",)), atom("A2", "A1", status="resolved"))
    assert judge(loop, tests="2 failed") == [Reopened(atoms=("A1",))]
    assert (repairs(loop), Graph(loop).ready()) == ([], ["A1"])
    assert (loop.atoms[0].status, loop.atoms[0].failures, loop.atoms[0].attempts) == ("pending", 1, 0)
    assert set(loop.bindings) == {"A2"}, "what depends on it is not taken back"
    assert loop.atoms[1].status == "resolved"
    entry = loop.trail[-1]
    assert (entry.type, entry.atom, entry.reason) == ("failure", "A1", '"tests" fails: 2 failed')
    assert rounds(loop) == {"tests": 1}
    assert errors_of(loop) == []


def test_items_that_nothing_covers_get_a_repair_beside_what_is_reopened() -> None:
    loop = covering(atom("A1", status="resolved", covers=("tests",)))
    assert judge(loop, lint="E501", tests="red") == [Reopened(atoms=("A1",)), Added(atoms=("A2",))]
    assert loop.atoms[-1].repairs == "lint"


def test_all_failing_items_that_an_atom_covers_are_told_in_one_reason_of_bounded_length() -> None:
    loop = covering(atom("A1", status="resolved", covers=("lint", "tests")))
    judge(loop, tests="red", lint="x" * 2 * LONGEST_EVIDENCE)
    assert loop.trail[-1].reason == f'"tests" fails: red; "lint" fails: {"x" * LONGEST_EVIDENCE}…'
    assert len(loop.trail) == 1


def test_an_item_with_items_inside_is_covered_with_all_of_them_and_an_any_of_as_one() -> None:
    for covers, failing, is_reopened in (
        (("docs",), "docs / readme", True),
        (("docs",), "docs / guide", True),
        (("guide",), "docs / guide", True),
        (("readme",), "docs / guide", False),
        (("html",), "docs / guide", True),
    ):
        loop = covering(atom("A1", status="resolved", covers=covers))
        effects = judge(loop, **{failing: "missing"})
        assert (effects == [Reopened(atoms=("A1",))]) is is_reopened, (covers, failing)


def test_only_what_is_required_is_reopened() -> None:
    done: dict[str, Any] = {"status": "resolved", "covers": ("tests",)}
    loop = covering(atom("X", or_group="g", **done), atom("Y", or_group="g", **done))
    judge(loop, tests="red")
    assert [one.status for one in loop.atoms] == ["pending", "resolved"]
    assert (loop.atoms[0].failures, loop.trail[-1].or_group) == (1, "g")


def test_what_a_reopened_atom_is_a_part_of_is_open_again_and_resolves_again() -> None:
    splits = [
        Decomposition(parent="Q", children=("P",), reason="parts"),
        Decomposition(parent="P", children=("C", "D"), reason="parts"),
    ]
    loop = covering(
        *(atom(one, status="resolved") for one in "QPD"), atom("C", status="resolved", covers=("tests",)),
        decompositions=splits,
    )  # fmt: skip
    judge(loop, tests="red")
    assert {one.id: one.status for one in loop.atoms} == {
        "Q": "pending", "P": "pending", "D": "resolved", "C": "pending"
    }  # fmt: skip
    assert set(loop.bindings) == {"D"}
    assert errors_of(loop) == []
    resolve(loop, "C")
    assert Graph(loop).unresolved() == []


def test_a_whole_that_covers_an_item_gets_a_repair_as_its_part_and_its_parts_are_not_reopened() -> None:
    loop = covering(
        atom("P", status="resolved", covers=("tests",)), atom("C", status="resolved", covers=("tests",)),
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
    )  # fmt: skip
    assert judge(loop, tests="2 failed") == [Added(atoms=("A1",)), Reopened(atoms=("P",))]
    assert {one.id: one.status for one in loop.atoms} == {"P": "pending", "C": "resolved", "A1": "pending"}
    repair = loop.atoms[-1]
    assert (repair.repairs, "2 failed" in repair.description) == ("P", True)
    assert errors_of(loop) == []
    assert resolve(loop, "A1") == [CheckParent(atom="P")], "what it covers is its check"


def test_a_reopened_choice_that_fails_on_gives_way_in_its_turn() -> None:
    loop = covering(
        atom("X", or_group="g", status="resolved", covers=("tests",)), atom("Y", or_group="g"),
        constraints=Constraints(max_attempts=1),
    )  # fmt: skip
    judge(loop, tests="red")
    (switched,) = fail(loop, "X")
    assert isinstance(switched, Backtracked)
    assert switched.selected == "Y"
