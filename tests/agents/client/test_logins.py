"""A login is lent, not given: nobody else reads the copy, nothing of it is left, and what was renewed is not lost."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.client.logins import home_with_login, is_renewal
from aotloop.errors import Unavailable

OAUTH = {"type": "oauth", "refresh": "r", "access": "a", "expires": 1}
OLD, NEW, NEWER = (json.dumps({"a service": {**OAUTH, "access": word}}) for word in ("old", "new", "newer"))


@pytest.fixture
def login(tmp_path: Path) -> Path:
    file = tmp_path / "user" / "auth.json"
    file.parent.mkdir()
    file.write_text(OLD)
    return file


def test_the_copy_is_for_one_alone_and_does_not_stay(tmp_path: Path, login: Path) -> None:
    with home_with_login(tmp_path / "home", login, "a/auth.json") as home:
        copy = home / "a" / "auth.json"
        assert copy.read_text() == OLD
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert not home.exists()
    assert login.read_text() == OLD


def test_nothing_is_left_whatever_happens(tmp_path: Path, login: Path) -> None:
    with pytest.raises(LookupError), home_with_login(tmp_path / "home", login, "auth.json"):
        raise LookupError
    assert not (tmp_path / "home").exists()


def test_what_was_renewed_is_taken_over(tmp_path: Path, login: Path) -> None:
    with home_with_login(tmp_path / "home", login, "auth.json") as home:
        (home / "auth.json").write_text(NEW)
    assert login.read_text() == NEW
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    assert [file.name for file in login.parent.iterdir()] == ["auth.json"]


def test_unless_somebody_else_was_faster(tmp_path: Path, login: Path) -> None:
    with home_with_login(tmp_path / "home", login, "auth.json") as home:
        (home / "auth.json").write_text(NEW)
        login.write_text(NEWER)
    assert login.read_text() == NEWER


def test_who_logs_out_or_in_for_the_attempt_alone_changes_nothing(tmp_path: Path, login: Path) -> None:
    with home_with_login(tmp_path / "home", login, "auth.json") as home:
        (home / "auth.json").unlink()
    assert login.read_text() == OLD
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


@pytest.mark.parametrize(
    "changed",
    [
        {"a service": OAUTH, "https://a.example": {"type": "wellknown", "key": "NODE_OPTIONS", "token": "x"}},
        {"a service": {**OAUTH, "type": "wellknown"}},
        {"a service": {**OAUTH, "access": {"key": "x"}}},
        {"a service": {**OAUTH, "expires": True}},
        {"a service": {**OAUTH, "endpoint": "https://a.example"}},
        {"another": OAUTH},
        {},
        [OAUTH],
    ],
)
def test_a_login_in_which_more_than_tokens_changed_is_not_taken_over(changed: Any) -> None:
    """Seen: an agent added a service to the file, from which the person's own client would take its settings."""
    before = json.dumps({"a service": OAUTH}).encode()
    assert is_renewal(before, json.dumps({"a service": {**OAUTH, "access": "b", "expires": 2}}).encode())
    assert not is_renewal(before, json.dumps(changed).encode())
    assert not is_renewal(before, b"[" * 100_000)
    assert not is_renewal(b"no json", b"no json either")
