"""A login is lent, not given: nobody else reads the copy, nothing of it is left, and what was renewed is not lost."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from aotloop.agents.client.logins import home_with_login
from aotloop.errors import Unavailable


@pytest.fixture
def login(tmp_path: Path) -> Path:
    file = tmp_path / "user" / "auth.json"
    file.parent.mkdir()
    file.write_text("old")
    return file


def test_the_copy_is_for_one_alone_and_does_not_stay(tmp_path: Path, login: Path) -> None:
    with home_with_login(tmp_path / "home", login, "a/auth.json") as home:
        copy = home / "a" / "auth.json"
        assert copy.read_text() == "old"
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert not home.exists()
    assert login.read_text() == "old"


def test_nothing_is_left_whatever_happens(tmp_path: Path, login: Path) -> None:
    with pytest.raises(LookupError), home_with_login(tmp_path / "home", login, "auth.json"):
        raise LookupError
    assert not (tmp_path / "home").exists()


def test_what_was_renewed_is_taken_over(tmp_path: Path, login: Path) -> None:
    with home_with_login(tmp_path / "home", login, "auth.json") as home:
        (home / "auth.json").write_text("new")
    assert login.read_text() == "new"
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    assert [file.name for file in login.parent.iterdir()] == ["auth.json"]


def test_unless_somebody_else_was_faster(tmp_path: Path, login: Path) -> None:
    with home_with_login(tmp_path / "home", login, "auth.json") as home:
        (home / "auth.json").write_text("new")
        login.write_text("newer")
    assert login.read_text() == "newer"


def test_who_logs_out_or_in_for_the_attempt_alone_changes_nothing(tmp_path: Path, login: Path) -> None:
    with home_with_login(tmp_path / "home", login, "auth.json") as home:
        (home / "auth.json").unlink()
    assert login.read_text() == "old"
    login.unlink()
    with home_with_login(tmp_path / "home", login, "auth.json") as home:
        assert not (home / "auth.json").exists()
        (home / "auth.json").write_text("made up")
    assert not login.exists()


def test_what_an_attempt_before_left_is_gone(tmp_path: Path, login: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "auth.json").write_text("another's")
    login.unlink()
    with home_with_login(tmp_path / "home", login, "auth.json") as home:
        assert not (home / "auth.json").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, login: Path) -> None:
    with pytest.raises(Unavailable, match="folder of its own"), home_with_login(tmp_path / "no" / "home", login, "a"):
        pass
