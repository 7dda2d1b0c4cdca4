"""A finding reads as where, then what."""

from __future__ import annotations

import pytest

from aotloop.core.findings import Finding, Path, dotted, error, warning


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("objective",), "objective"),
        (("objective", "goal"), "objective.goal"),
        (("atoms", 3, "depends_on", 0), "atoms[3].depends_on[0]"),
        (("or_groups", "store", "choices", 1), "or_groups.store.choices[1]"),
    ],
)
def test_a_path_is_written_as_one_would_say_it(path: Path, text: str) -> None:
    assert dotted(path) == text


def test_a_finding_without_a_place_says_only_key_and_message() -> None:
    assert str(error(("control", "iteration"), "is odd")) == "control.iteration: is odd"


def test_a_finding_with_a_place_begins_with_it() -> None:
    finding = Finding("error", ("atoms", 0), "is odd", line=12, column=5)
    assert str(finding) == "line 12, column 5: atoms[0]: is odd"


def test_a_finding_about_the_whole_file_names_no_key() -> None:
    assert str(Finding("error", (), "is odd", line=1, column=1)) == "line 1, column 1: is odd"
    assert str(error((), "is odd")) == "is odd"


def test_only_an_error_can_be_about_something_missing() -> None:
    assert error(("a",), "m", missing=True).missing
    assert not error(("a",), "m").missing
    assert not warning(("a",), "m").missing


def test_errors_and_warnings_are_told_apart() -> None:
    assert (error((), "m").level, warning((), "m").level) == ("error", "warning")
