"""What the claims of an agent mean."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from aotloop.agents.answers.answer_outcome import outcome_of_answer
from aotloop.agents.answers.answer_schema import EXAMPLES
from aotloop.agents.contract import Done, Failed, Garbage, Judged, Outcome, Probed, Proposed
from aotloop.agents.roles import Role
from tests.agents.assignments import worker_answer

ROOT = Path("/somewhere/tree")
PARTS = {"children": [{"description": "a"}, {"description": "b"}]}


def worker(**more: object) -> Outcome:
    return outcome_of_answer("worker", worker_answer(**more), ROOT)


def test_success_is_done() -> None:
    assert worker(artifacts=["a.py"]) == Done(summary="it is done", artifacts=("a.py",))


def test_who_is_done_needs_no_parts() -> None:
    outcome = worker(proposal=PARTS)
    assert isinstance(outcome, Done)
    assert outcome.notes == ("it was done, so its proposal to split it was ignored",)


def test_failure_teaches_if_it_has_a_reason() -> None:
    assert worker(success=False, reason="no network") == Failed(reason="no network", taught=True)
    assert worker(success=False) == Failed(reason="the agent gave up without a reason", taught=False)


def test_parts_are_proposed_with_the_best_reason_there_is() -> None:
    for reason, proposed, told in (("", "p", "p"), ("r", "", "r"), ("", "", "it is too big for one go")):
        outcome = worker(success=False, reason=reason, proposal={**PARTS, "reason": proposed})
        assert isinstance(outcome, Proposed)
        assert (outcome.reason, len(outcome.children)) == (told, 2)


def test_a_refused_proposal_is_a_failure_that_says_so() -> None:
    outcome = worker(success=False, reason="too big", proposal={"children": [{"description": "x", "run": "make"}]})
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("too big; its proposal was refused: it brings a command (`run`)")
    assert outcome.taught


def test_a_probe_keeps_its_findings_when_its_proposal_is_refused() -> None:
    said = {"feasible": True, "findings": "it can be done", "cost_estimate": 3, "proposal": {"children": []}}
    outcome = outcome_of_answer("probe", json.dumps(said), ROOT)
    assert isinstance(outcome, Probed)
    assert (outcome.estimate, outcome.children) == (3.0, ())
    assert outcome.notes == ("its proposal was refused: it has no parts",)


def test_nonsense_is_garbage_and_teaches_nothing() -> None:
    outcome = outcome_of_answer("worker", "nonsense", ROOT)
    assert isinstance(outcome, Garbage)
    assert not outcome.taught


def test_outcomes_survive_being_written_down() -> None:
    for outcome in (
        worker(),
        worker(success=False, proposal=PARTS),
        Judged(passed=True, evidence="x"),
        Garbage(reason="?"),
    ):
        assert msgspec.json.decode(msgspec.json.encode(outcome), type=Outcome) == outcome


@pytest.mark.parametrize("role", list(EXAMPLES))
def test_a_message_shows_what_was_expected_beside_what_came(role: Role, tmp_path: Path) -> None:
    assert not isinstance(outcome_of_answer(role, EXAMPLES[role], tmp_path), Garbage), "an example is an answer"
    outcome = outcome_of_answer(role, '{"greeting": "hello"}', tmp_path)
    assert isinstance(outcome, Garbage)
    assert EXAMPLES[role] in outcome.reason
    assert 'it was: {"greeting": "hello"}' in outcome.reason
