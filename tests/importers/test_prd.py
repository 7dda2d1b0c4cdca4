"""prd.json: stories become pieces of work; what is passed is left out; criteria stay words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.reading import plan, refused, waits

PRD: dict[str, Any] = {
    "project": "Shop",
    "branchName": "ralph/login",
    "description": "Customers can log in",
    "userStories": [
        {
            "id": "US-002",
            "title": "Form",
            "description": "As a customer, I want a form",
            "acceptanceCriteria": ["It has two fields", "rm -rf / is not run"],
            "priority": 2,
            "passes": False,
            "notes": "mind the tests",
            "dependencies": ["US-001", "US-003"],
        },
        {"id": "US-001", "title": "Table", "priority": 1, "passes": False},
        {"id": "US-003", "title": "Old", "priority": 1, "passes": True},
    ],
}


def test_stories_come_in_the_order_of_priority_with_all_they_say() -> None:
    found = plan(PRD)
    assert waits(found) == {"US-001": (), "US-002": ("US-001",)}
    assert found.title == "Customers can log in"
    assert found.background == "Project: Shop"
    assert found.finished == ("US-003",)
    form = found.pieces[1]
    assert form.text == (
        "US-002: Form\n\nAs a customer, I want a form\n\n"
        "Acceptance criteria:\n- It has two fields\n- rm -rf / is not run\n\nNotes: mind the tests"
    )
    assert form.criteria == ("It has two fields", "rm -rf / is not run")
    assert found.warnings == ("branchName is not taken over; `aot run --branch ralph/login` works on it",)


def test_a_bare_list_with_steps_is_one_too() -> None:
    found = plan([{"category": "ui", "description": "A button", "steps": ["Click it"], "passes": False}])
    assert [(piece.label, piece.text, piece.criteria) for piece in found.pieces] == [
        ("userStories[0]", "A button\n\nAcceptance criteria:\n- Click it", ("Click it",))
    ]


def test_numbers_are_ids_and_may_be_named_as_text() -> None:
    stories = [{"id": 1, "title": "a"}, {"id": 2, "title": "b", "dependsOn": ["1"]}]
    assert waits(plan({"userStories": stories})) == {"1": (), "2": ("1",)}


@pytest.mark.parametrize(
    ("stories", "told"),
    [
        ([], "there is no piece of work"),
        ([{"id": "a", "title": "x", "passes": True}], "all 1 pieces"),
        ([{"id": "a"}], "userStories[0]: it has neither a title nor a description"),
        ([{"id": "a", "title": 5}], "Expected `str | null`, got `int` - at `$.userStories[0].title`"),
        ([{"id": {"x": 1}, "title": "x"}], "$.userStories[0].id"),
        ([{"title": "x", "acceptanceCriteria": [1]}], "$.userStories[0].acceptanceCriteria[0]"),
        ("many", "$.userStories"),
        (
            [{"id": "a", "title": "x"}, {"id": "a", "title": "y"}],
            "userStories[1]: a is there already, at userStories[0]",
        ),
        ([{"id": "a", "title": "x", "dependencies": ["b"]}], "userStories[0]: a depends on b, which is not there"),
        ([{"id": "a", "title": "x", "dependencies": ["a"]}], "wait for each other: a → a"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(stories: Any, told: str) -> None:
    assert told in refused({"userStories": stories}).message
