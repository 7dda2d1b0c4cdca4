"""What a planner says: questions, or a whole proposal; plain, short, and consistent, or it is no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.answers.answer_outcome import outcome_of_answer
from aotloop.agents.answers.answer_schema import PlannerResult
from aotloop.agents.contract import Garbage, Planned

CHECK = {"item": "tests pass", "type": "command", "value": "make test"}
PLAN: dict[str, Any] = {
    "goal": "Log in",
    "background_intent": "why",
    "deliverables": "what",
    "definition_of_done": "when",
    "checklist": [CHECK],
    "protect": ["tests/**"],
    "atoms": [
        {"name": "model", "description": "the model", "depends_on": [], "or_group": None, "touches": [], "estimate": 5},
        {"name": "view", "description": "the view", "depends_on": ["model"], "or_group": " ", "touches": ["a", "a"]},
    ],
}


def said(**answer: Any) -> PlannerResult:
    outcome = outcome_of_answer("planner", json.dumps({"questions": [], "plan": None, **answer}), Path())
    assert isinstance(outcome, Planned), outcome
    return outcome.answer


def refused(**answer: Any) -> str:
    outcome = outcome_of_answer("planner", json.dumps({"questions": [], "plan": None, **answer}), Path())
    assert isinstance(outcome, Garbage)
    return outcome.reason


def test_questions_are_made_plain_and_bounded() -> None:
    asked = [{"question": "What\x1b[31m about\n it?", "choices": ["a", "a", " ", *"bcdefghijk"]}, {"question": " "}]
    result = said(questions=[*asked, *({"question": f"q{number}"} for number in range(20))], plan=PLAN)
    assert result.plan is None
    assert (result.questions[0].question, result.questions[0].choices) == ("What about it?", tuple("abcdef"))
    assert [one.question for one in result.questions[1:]] == [f"q{number}" for number in range(6)]


def test_a_proposal_is_taken_whole() -> None:
    plan = said(plan=PLAN).plan
    assert plan is not None
    assert (plan.goal, plan.checklist[0].value, plan.protect) == ("Log in", "make test", ("tests/**",))
    assert [(one.name, one.depends_on, one.or_group, one.touches) for one in plan.atoms] == [
        ("model", (), None, ()),
        ("view", ("model",), None, ("a",)),
    ]


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (None, "it neither asks nor proposes anything"),
        ({**PLAN, "goal": " "}, "it proposes no goal"),
        ({**PLAN, "checklist": []}, "its checklist is empty"),
        ({**PLAN, "checklist": [CHECK] * 51}, "51 items in the checklist are too many"),
        ({**PLAN, "checklist": [{**CHECK, "value": " "}]}, "'tests pass' has no value"),
        ({**PLAN, "checklist": [{**CHECK, "value": "x" * 4001}]}, "'tests pass' is too long"),
        ({**PLAN, "checklist": [{**CHECK, "type": "magic"}]}, "does not fit"),
        ({**PLAN, "atoms": [PLAN["atoms"][0]] * 2}, "two atoms are called model"),
        ({**PLAN, "atoms": [PLAN["atoms"][1]]}, "view depends on model, which it does not propose"),
        ({**PLAN, "atoms": [{**PLAN["atoms"][0], "description": ""}]}, "the atom model has no description"),
        ({**PLAN, "atoms": [{**PLAN["atoms"][0], "name": "n" * 81}]}, "is no name"),
        ({**PLAN, "atoms": [{**PLAN["atoms"][0], "name": ""}]}, "an atom has no name"),
        ("later", "does not fit"),
    ],
)
def test_what_could_not_be_agreed_on_is_garbage(plan: Any, told: str) -> None:
    assert told in refused(plan=plan)


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*PLAN, *PLAN["atoms"][0], *CHECK, "question", "choices"]), inner, max_size=8)
    ),
    max_leaves=20,
)


@given(st.fixed_dictionaries({"questions": st.just([]) | values, "plan": st.just(PLAN) | values}))
def test_any_answer_is_planned_or_garbage(answer: dict[str, Any]) -> None:
    assert isinstance(outcome_of_answer("planner", json.dumps(answer), Path()), Planned | Garbage)


def test_what_an_atom_covers_is_an_item_of_the_checklist_and_anything_else_is_left_out_with_a_note() -> None:
    atoms = [
        {**PLAN["atoms"][0], "covers": ["tests  pass", "magic", "tests pass"]},
        {**PLAN["atoms"][1], "covers": []},
    ]
    text = json.dumps({"questions": [], "plan": {**PLAN, "atoms": atoms}})
    outcome = outcome_of_answer("planner", text, Path())
    assert isinstance(outcome, Planned)
    assert outcome.answer.plan is not None
    assert [one.covers for one in outcome.answer.plan.atoms] == [("tests pass",), ()]
    assert outcome.notes == ("model is to cover magic, which its checklist does not have: left out",)
