"""tasks.json of task-master, old and tagged: subtasks, dependencies of both kinds, and what stands aside."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.reading import plan, refused, waits

TASKS: list[dict[str, Any]] = [
    {"id": 1, "title": "Repository", "status": "done", "dependencies": [], "subtasks": [{"id": 1, "title": "git"}]},
    {
        "id": 2,
        "title": "Core",
        "description": "The main thing",
        "details": "Use the standard library",
        "testStrategy": "Run the tests",
        "status": "in-progress",
        "priority": "high",
        "dependencies": [1],
        "subtasks": [
            {"id": 1, "title": "Auth", "status": "done", "dependencies": []},
            {"id": 2, "title": "Data", "status": "pending", "dependencies": [1, "1"]},
            {"id": 3, "title": "Join", "status": "pending", "dependencies": [2, "2.1", "1"]},
        ],
    },
    {"id": 3, "title": "UI", "status": "pending", "dependencies": [2, "2.3"]},
    {"id": 4, "title": "Later", "status": "deferred", "dependencies": [3]},
    {"id": 5, "title": "Last", "status": "review", "dependencies": [4]},
]
EXPECTED = {"2.2": (), "2.3": ("2.2",), "2": ("2.2", "2.3"), "3": ("2", "2.3"), "5": ()}


@pytest.mark.parametrize(
    "found",
    [
        {"tasks": TASKS, "meta": {"projectName": "Demo"}},
        {"master": {"tasks": TASKS, "metadata": {"description": "Tasks for master"}}},
        {"feature": {"tasks": TASKS}},
        {"feature": {"tasks": []}, "master": {"tasks": TASKS}},
    ],
    ids=["flat", "tagged", "one other tag", "several tags"],
)
def test_both_forms_are_read(found: Any) -> None:
    read = plan(found)
    assert waits(read) == EXPECTED
    assert read.finished == ("1.1", "1", "2.1")
    assert read.warnings == (
        "tasks[3]: 4 is deferred, and left out",
        "tasks[4]: 5 depended on 4, which is left out",
    )


def test_a_piece_says_all_that_the_task_did() -> None:
    core = next(piece for piece in plan({"tasks": TASKS}).pieces if piece.label == "2")
    assert core.text == "2: Core\n\nThe main thing\n\nUse the standard library\n\nHow to test it: Run the tests"
    assert core.criteria == ("Run the tests",)
    assert plan({"tasks": TASKS, "meta": {"projectName": "Demo"}}).title == "Demo"


def test_subtasks_wait_for_what_their_parent_waits_for() -> None:
    tasks = [
        {"id": 1, "title": "a"},
        {"id": 2, "title": "b", "dependencies": [1], "subtasks": [{"id": 1, "title": "c"}]},
    ]
    assert waits(plan({"tasks": tasks})) == {"1": (), "2.1": ("1",), "2": ("1", "2.1")}


def test_a_tag_is_chosen() -> None:
    several = {"a": {"tasks": [{"id": 1, "title": "of a"}]}, "b": {"tasks": [{"id": 1, "title": "of b"}]}}
    assert plan(several, tag="b").pieces[0].text == "1: of b"
    error = refused(several)
    assert (error.message, error.hint) == ("plan.json: it has several tags: a, b", "Say which one with --tag.")
    assert refused(several, tag="c").hint == "There are: a, b."
    assert "it has no tags" in refused({"tasks": TASKS}, tag="a").message


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({"tasks": []}, "there is no piece of work"),
        ({"tasks": "x"}, "$.tasks"),
        ({"tasks": [{"title": "x"}]}, "missing required field `id` - at `$.tasks[0]`"),
        ({"tasks": [{"id": 1}]}, "tasks[0]: it has neither a title nor a description"),
        ({"tasks": [{"id": 1, "title": "a", "subtasks": [{"id": 1}]}]}, "tasks[0].subtasks[0]: it has neither"),
        ({"tasks": [{"id": 1, "title": "a"}, {"id": "1", "title": "b"}]}, "tasks[1]: 1 is there already, at tasks[0]"),
        (
            {"tasks": [{"id": 1, "title": "a", "subtasks": [{"id": 1, "title": "b"}, {"id": 1, "title": "c"}]}]},
            "tasks[0].subtasks[1]: 1.1 is there already",
        ),
        ({"tasks": [{"id": 1, "title": "a", "dependencies": [9]}]}, "tasks[0]: 1 depends on 9, which is not there"),
        ({"x": {"tasks": [{"id": 1, "title": 3}]}}, "(of the tag x)"),
        (
            {"tasks": [{"id": 1, "title": "a", "dependencies": [2]}, {"id": 2, "title": "b", "dependencies": [1]}]},
            "wait",
        ),
        ({"other": 1}, "this form of JSON is unknown"),
        (5, "this form of JSON is unknown"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(found: Any, told: str) -> None:
    assert told in refused(found).message
