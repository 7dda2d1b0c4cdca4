"""Markdown lists of work: what is work, what waits for what, and what is only background."""

from __future__ import annotations

import pytest

from tests.importers.reading import plan, refused, waits

FIX_PLAN = """\
# Ralph Fix Plan

A parser that people trust.

## High Priority
- [ ] Set up the build
- [x] Read the grammar
- [ ] Parse numbers

## Completed
- [x] Project initialization

## Notes
- Focus on the grammar first
"""


def test_open_checkboxes_are_the_work_and_the_rest_is_background() -> None:
    found = plan(FIX_PLAN)
    assert [piece.text.split("\n")[0] for piece in found.pieces] == ["Set up the build", "Parse numbers"]
    assert found.title == "Ralph Fix Plan"
    assert found.background == "A parser that people trust.\n\n- Focus on the grammar first"
    assert found.finished == ("line 7", "line 11")
    assert found.warnings == ()
    assert set(waits(found).values()) == {()}


def test_a_heading_goes_with_what_stands_under_it() -> None:
    (first, _) = plan(FIX_PLAN).pieces
    assert first.text == "Set up the build\n\n(From the list under: High Priority)"
    assert first.place == "line 6"


def test_an_item_waits_for_the_items_inside_of_it() -> None:
    found = plan("- [ ] all\n  - [ ] part\n    - [ ] part of the part\n  - [x] done part\n- [ ] other\n")
    assert waits(found) == {"line 3": (), "line 2": ("line 3",), "line 1": ("line 2",), "line 5": ()}


def test_what_is_inside_of_something_done_is_still_work() -> None:
    assert waits(plan("- [x] all\n  - [ ] forgotten\n")) == {"line 2": ()}


def test_notes_inside_of_an_item_go_with_it() -> None:
    (piece,) = plan(
        "- [ ] log in\n\n  With a password.\n\n  - use argon2\n  - no hints\n\n  ```\n  code\n  ```\n"
    ).pieces
    assert piece.text == "log in\n\nWith a password.\n\ncode\n\n- use argon2\n- no hints"


def test_of_a_numbered_list_each_waits_for_the_one_before_with_all_that_is_inside() -> None:
    found = plan("1. [ ] one\n2. [x] two\n3. [ ] three\n   - [ ] in three\n")
    assert waits(found) == {"line 1": (), "line 4": (), "line 3": ("line 4",)}  # what is done is waited for no more
    found = plan("1. [ ] one\n2. [ ] two\n   - [ ] in two\n")
    assert waits(found) == {"line 1": (), "line 3": ("line 1",), "line 2": ("line 1", "line 3")}


def test_dependencies_are_taken_by_their_word() -> None:
    found = plan(
        "- [ ] T1: model\n- [ ] **T2** views (depends on T1)\n- [ ] T3.1 all [after: T1, #T2 and T4]\n- [x] T4 x\n"
    )
    assert waits(found) == {"T1": (), "T2": ("T1",), "T3.1": ("T1", "T2")}
    assert waits(plan("- [ ] a walk (after lunch)\n")) == {"line 1": ()}


def test_a_dependency_on_nothing_is_refused_with_its_line() -> None:
    error = refused("- [ ] T1: a\n- [ ] T2: b (depends on T11)\n")
    assert error.message == "fix_plan.md: line 2: T2 depends on T11, which is not there"
    assert error.hint == "Did you mean T1?"


def test_a_name_that_several_have_names_none_of_them() -> None:
    assert waits(plan("- [ ] 1. a\n\n# More\n\n- [ ] 1. b\n")) == {"line 1": (), "line 5": ()}
    assert (
        "line 3: it depends on T1, which is the name of several items"
        in refused("- [ ] T1 a\n- [ ] T1 b\n- [ ] T2 c (needs T1)\n").message
    )


def test_items_that_wait_for_each_other_are_refused() -> None:
    error = refused("- [ ] T1 a (after T2)\n- [ ] T2 b (after T1)\n")
    assert "these items wait for each other: T1 → T2 → T1" in error.message or "T2 → T1 → T2" in error.message


def test_without_any_checkbox_the_outermost_items_are_the_work() -> None:
    found = plan("# P\n\nProse.\n\n- one\n  - detail\n- two\n\n## Notes\n- not this\n\n## Done\n- old\n")
    assert [piece.text for piece in found.pieces] == ["one\n\n- detail", "two"]
    assert found.finished == ("line 13",)
    assert found.background == "Prose.\n\n- not this"
    assert waits(plan("1. one\n2. two\n3. three\n")) == {"line 1": (), "line 2": ("line 1",), "line 3": ("line 2",)}


def test_other_marks_and_empty_items_are_told() -> None:
    found = plan("- [~] begun\n- [ ]\n- [ ] ok\n")
    assert [piece.text for piece in found.pieces] == ["begun", "ok"]
    assert found.warnings == ("line 2: an item without words is left out", "line 1: [~] is taken as not done")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is nothing in it"),
        (" \n\t\n", "there is nothing in it"),
        ("Only prose.\n", "there is no piece of work in it"),
        ("- [x] a\n- [x] b\n", "all 2 pieces of work in it are done"),
        ("- [ ] a\n" * 5001, "5001 pieces of work are more than 5000"),
        ("\n".join("  " * depth + "- [ ] a" for depth in range(60)), "line 31: lists are nested deeper than 30 levels"),
        ("x" * 1_000_001, "longer than 1000000 characters"),
        ("x" * 4_000_001, "longer than 4000000 bytes"),
    ],
)
def test_what_is_no_list_of_work_is_refused(text: str, told: str) -> None:
    assert told in refused(text).message


def test_line_ends_marks_and_other_scripts_do_not_matter() -> None:
    found = plan("\ufeff# Plän\r\n\r\n- [ ] 日本語 😀\r\n- [x] b\r\n- [ ] \x1b[31mred\x00\u2028more\r\n")
    assert found.title == "Plän"
    assert [piece.text for piece in found.pieces] == ["日本語 😀", "red\nmore"]
    assert [piece.place for piece in found.pieces] == ["line 3", "line 5"]


def test_code_and_comments_hold_no_work() -> None:
    assert waits(plan("```\n- [ ] no\n```\n<!--\n- [ ] no\n-->\n\n- [ ] yes\n")) == {"line 8": ()}
