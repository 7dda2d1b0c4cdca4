"""A person's word counts for what it was said about, and for nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.errors import Unavailable
from aotloop.trust.confirmations import Subject, confirm, confirmed, withdraw


@pytest.fixture
def subject(project: Path) -> Subject:
    return Subject(state_file=str(project / "x.md"), objective_digest="d1", commit="c1")


def test_what_was_confirmed_adds_up(subject: Subject) -> None:
    assert confirmed(subject) == {}
    confirm(subject, {"looks / nice": "yes"})
    confirm(subject, {"fast": "measured it"})
    assert confirmed(subject) == {"looks / nice": "yes", "fast": "measured it"}
    confirm(subject, {"fast": "measured it twice"})
    assert confirmed(subject)["fast"] == "measured it twice"


@pytest.mark.parametrize(
    "other", [{"objective_digest": "d2"}, {"commit": "c2"}, {"commit": None}, {"state_file": "other.md"}]
)
def test_of_anything_else_it_says_nothing(subject: Subject, other: dict[str, str | None]) -> None:
    confirm(subject, {"nice": "yes"})
    assert confirmed(replace(subject, **other)) == {}


def test_without_a_commit_nothing_is_remembered(subject: Subject, own_home: Path) -> None:
    anywhere = replace(subject, commit=None)
    confirm(anywhere, {"nice": "yes"})
    assert confirmed(anywhere) == {}
    assert not (own_home / ".local").exists()


def test_who_confirmed_something_may_think_better_of_it(subject: Subject) -> None:
    confirm(subject, {"nice": "yes", "fast": "yes"})
    withdraw(subject, ["nice", "never said"])
    assert confirmed(subject) == {"fast": "yes"}
    withdraw(replace(subject, commit=None), ["fast"])
    assert confirmed(subject) == {"fast": "yes"}


def test_it_is_kept_in_the_home_of_the_user_and_readable_by_a_person(subject: Subject, own_home: Path) -> None:
    confirm(subject, {"nice": "looked at it"})
    (record,) = (own_home / ".local" / "share" / "aotloop" / "confirmed").iterdir()
    assert "looked at it" in record.read_text()
    assert subject.state_file in record.read_text()
    record.write_text("nonsense")
    assert confirmed(subject) == {}


def test_a_path_that_is_not_utf8_can_be_spoken_of(project: Path, subject: Subject) -> None:
    there = replace(subject, state_file=os.fsdecode(os.fsencode(project) + b"/\xff.md"))
    confirm(there, {"nice": "yes"})
    assert confirmed(there) == {"nice": "yes"}


def test_a_home_that_cannot_be_written_to_is_said_to_be_so(subject: Subject, own_home: Path) -> None:
    (own_home / ".local").write_text("a file where a folder should be")
    with pytest.raises(Unavailable, match="what you confirmed cannot be remembered"):
        confirm(subject, {"nice": "yes"})
