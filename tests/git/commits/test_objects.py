"""Commits and merges that no work tree sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.git.commits.objects import decoded, encoded, merge, message_of, nothing
from aotloop.git.repository import Repository
from tests.git.checkouts import head, make_checkout, opened, save, sh, write


@given(st.text(st.characters(codec=None), min_size=1))
def test_any_text_survives_as_one_line(text: str) -> None:
    line = encoded(text)
    assert decoded(line) == text
    assert line == line.strip()
    assert line.isprintable()


def test_ids_are_readable() -> None:
    assert encoded("A4_alt ü/x") == "A4_alt ü/x"


@pytest.mark.parametrize(("text", "body"), [("", "aot"), (" Subject \n\nBody\0\n", "Subject \n\nBody")])
def test_a_message_is_text_and_a_paragraph_of_trailers(text: str, body: str) -> None:
    assert message_of(text, {}) == f"{body}\n"
    assert message_of(text, {"K": "v", "L": "w"}) == f"{body}\n\nK: v\nL: w\n"


def test_nothing_is_always_the_same_commit_and_on_no_branch(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "empty", {})
    repository = opened(checkout)
    assert nothing(repository) == nothing(repository)
    assert sh(checkout, "ls-tree", nothing(repository)) == ""
    assert sh(checkout, "for-each-ref") == ""


def test_the_base_is_the_one_that_is_given(repository: Repository, checkout: Path) -> None:
    start = head(checkout)
    write(checkout, {"new": "x\n"})
    later = save(checkout)
    assert sh(checkout, "ls-tree", "--name-only", merge(repository, base=later, ours=later, theirs=start).tree) == (
        "a.txt\nb.txt\nsrc"
    )
    assert merge(repository, base=start, ours=start, theirs=later).conflicts == ()
