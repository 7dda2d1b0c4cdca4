"""The tables of phases, receipts and statuses say something about everything, and what the documentation says."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import fields, replace
from prove.phases import PROVEN

from aotloop.core.phases.events import Facts
from aotloop.core.phases.invariants import findings_of, steps_left
from aotloop.core.phases.model import OURS, PHASES, Artifacts, ErrorRecord, Phase, PhaseLoop, Status
from aotloop.core.phases.receipts import GREEN, RECEIPTS, RED, UNTOUCHED, Proof, verify_again, verify_receipt
from aotloop.core.phases.transitions import FOLLOWS, STATUS
from tests.core.phases.loops import a_phase_loop, facts_for, receipt

DOCS = Path(__file__).parents[3] / "docs" / "phases.md"


def test_every_phase_has_a_receipt_and_a_successor() -> None:
    assert list(RECEIPTS) == list(PHASES)
    assert {phase for phase, outcome in FOLLOWS if outcome == "done"} == set(PHASES) - {"ship"}
    assert {phase for phase, outcome in FOLLOWS if outcome == "findings"} == {"review", "re_review"}


def test_every_phase_but_two_can_be_left_by_force() -> None:
    assert set(PHASES) - {phase for phase, outcome in FOLLOWS if outcome == "forced"} == {"spec_test", "ship"}


def test_there_is_no_way_round_the_acceptance_tests() -> None:
    assert [before for (before, _), after in FOLLOWS.items() if after == "deepen"] == ["spec_test"]
    for (before, _), after in FOLLOWS.items():
        at = PHASES.index
        assert not at(before) < at("spec_test") < at(after)


def test_what_is_final_allows_no_move_but_its_own() -> None:
    assert {after for (before, _), after in STATUS.items() if before == "completed"} == set()
    assert {after for (before, _), after in STATUS.items() if before == "cancelled"} == {"cancelled"}
    assert {before for before, _ in STATUS} | {"completed"} == set(get_args(Status))


def test_files_are_kept_under_names_that_exist() -> None:
    names = {row.kept_as for row in RECEIPTS.values()} - {None}
    assert names == {"brainstorm_file", "plan_file", "acceptance_tests_file"}
    assert names <= set(Artifacts.__struct_fields__)


def test_tests_are_red_first_untouched_afterwards_and_green_at_the_end() -> None:
    after = PHASES[PHASES.index("spec_test") + 1 :]
    assert [phase for phase in PHASES if RED in RECEIPTS[phase].proofs] == ["spec_test"]
    assert tuple(phase for phase in PHASES if UNTOUCHED in RECEIPTS[phase].proofs) == after
    assert [phase for phase in PHASES if any(one.says == GREEN.says for one in RECEIPTS[phase].proofs)] == [
        "work",
        "test",
        "ship",
    ]


@pytest.mark.parametrize("phase", PHASES)
def test_a_receipt_verifies_with_the_facts_its_phase_demands(phase: Phase) -> None:
    assert verify_receipt(phase, receipt(phase), facts_for(phase)) == ()
    assert verify_again(receipt(phase), PROVEN) == ()


@pytest.mark.parametrize("phase", PHASES)
def test_what_nobody_looked_into_proves_nothing(phase: Phase) -> None:
    reasons = verify_receipt(phase, receipt(phase), Facts())
    assert len(reasons) == len(RECEIPTS[phase].proofs) >= 3
    assert verify_again(receipt(phase), Facts())


@pytest.mark.parametrize("phase", PHASES)
def test_each_fact_matters_exactly_where_the_table_says(phase: Phase) -> None:
    right = facts_for(phase)
    for field in fields(Facts):
        without = replace(right, **{field.name: None})
        is_demanded = any(not proof.holds(without) for proof in RECEIPTS[phase].proofs)
        assert bool(verify_receipt(phase, receipt(phase), without)) == is_demanded
    assert verify_receipt(phase, receipt(phase), replace(right, commit_is_newer=False))


@pytest.mark.parametrize(
    "artifact", ["", "  ", "/etc/passwd", "../x", "a/../../x", "a\0b", "a\nb", "..\\x", "a" * 2000]
)
def test_an_artifact_is_within_the_project(artifact: str) -> None:
    reasons = verify_receipt("plan", receipt("plan", artifact=artifact), PROVEN)
    assert "is not a path within the project" in reasons[0]
    assert len(reasons[0]) < 300


@pytest.mark.parametrize("sha", ["", "HEAD", "--output=x", "abc", "A1B2C3D", "a" * 65, "a1b2c3d\n"])
def test_a_sha_is_one(sha: str) -> None:
    assert "is not the sha of a commit" in verify_receipt("plan", receipt("plan", git_sha=sha), PROVEN)[0]


def test_a_receipt_is_of_the_phase_it_is_filed_in() -> None:
    assert "the loop is in work" in verify_receipt("work", receipt("plan"), PROVEN)[0]


def test_the_bound_is_known_at_the_start() -> None:
    assert steps_left(a_phase_loop()) == 50 + len(PHASES) - 2 + 2 * 3 + 1
    assert steps_left(a_phase_loop(phase="ship")) == 50 + 1
    assert steps_left(a_phase_loop(phase="ship", status="completed")) == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_iterations", 0),
        ("max_phase_iterations", 0),
        ("max_fix_cycles", -1),
        ("global_iteration", -1),
        ("phase_iteration", -1),
        ("fix_review_cycles", -1),
        ("budget_limit_usd", -1.0),
        ("budget_limit_usd", float("inf")),
        ("spent_usd", -0.01),
        ("spent_usd", float("inf")),
        ("completion_promise", " "),
        ("feature", ""),
        ("version", 3),
    ],
)
def test_values_that_make_no_sense_are_found(key: str, value: object) -> None:
    assert list(findings_of(a_phase_loop())) == []
    assert [finding.path for finding in findings_of(replace(a_phase_loop(), **{key: value}))] == [(key,)]


def test_the_documentation_has_the_table_of_receipts() -> None:
    page = DOCS.read_text()
    of_all = [proof for proof in RECEIPTS["brainstorm"].proofs if all(proof in row.proofs for row in RECEIPTS.values())]
    assert of_all
    assert [proof.says for proof in of_all if f"- {_told(proof)}\n" not in page] == []
    later = list(RECEIPTS)[list(RECEIPTS).index("deepen") :]
    of_later = [one for one in RECEIPTS["deepen"].proofs if all(one in RECEIPTS[phase].proofs for phase in later)]
    shared = [one for one in of_later if one not in of_all]
    assert shared
    assert [one.says for one in shared if f"- from `deepen` on: {_told(one)}\n" not in page] == []
    for phase, row in RECEIPTS.items():
        known = [*of_all, *(shared if phase in later else ())]
        further = "; ".join(_told(proof) for proof in row.proofs if proof not in known) or "none"
        assert f"| `{phase}` | {row.artifact} | {further} |" in page


def _told(proof: Proof) -> str:
    return proof.says + (" *" if proof.lasting else "")


def test_a_budget_of_nothing_is_one_and_a_text_that_is_missing_is_told_as_missing() -> None:
    assert list(findings_of(a_phase_loop(budget_limit_usd=0.0))) == []
    assert [one.missing for one in findings_of(replace(a_phase_loop(), feature=" "))] == [True]
    assert [one.missing for one in findings_of(replace(a_phase_loop(), max_iterations=0))] == [False]


@pytest.mark.parametrize(("said", "told"), [("2 failed", "2 failed"), ("", "they were not run")])
def test_what_the_tests_said_is_told_and_that_nobody_has_run_them(said: str, told: str) -> None:
    facts = facts_for("work", tests_pass=None, tests_said=said)
    assert verify_receipt("work", receipt("work"), facts) == (f"the acceptance tests do not pass: {told}",)


@pytest.mark.parametrize(("length", "is_path"), [(1024, True), (1025, False)])
def test_a_path_is_no_longer_than_some_systems_allow(length: int, is_path: bool) -> None:
    found = verify_receipt("plan", receipt("plan", artifact="a" * length), PROVEN)
    assert (found == ()) == is_path


@pytest.mark.parametrize(("length", "shown"), [(200, "z" * 200), (201, "z" * 199 + "…")])
def test_what_is_claimed_is_shown_up_to_two_hundred_characters(length: int, shown: str) -> None:
    found = verify_receipt("plan", receipt("plan", git_sha="z" * length), PROVEN)
    assert found[0] == f"{shown!r} is not the sha of a commit"


def test_nothing_is_shown_that_a_terminal_would_obey() -> None:
    found = verify_receipt("plan", receipt("plan", git_sha="\x1b[2J"), facts_for("plan", commit_known=False))
    assert "the commit '\\x1b[2J' is not part of what is checked out" in found[1]


def test_what_we_added_to_the_file_is_known_by_name() -> None:
    names = PhaseLoop.__struct_fields__
    assert set(OURS[PhaseLoop]) == set(names[names.index("last_updated") + 1 :])
    assert OURS[ErrorRecord] == ("forced", "refused")
    assert set(OURS) == {PhaseLoop, ErrorRecord}
