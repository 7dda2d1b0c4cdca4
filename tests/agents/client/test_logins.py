"""A login is lent, not given: nobody else reads the copy, nothing of it is left, and what was renewed is not lost."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.client.logins import home_with_login, with_tokens
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
    assert json.loads(login.read_text()) == json.loads(NEW)
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
    ("copy", "expected"),
    [
        ({"a service": {**OAUTH, "access": "b", "expires": 2}}, {"access": "b", "expires": 2}),
        ({"a service": {**OAUTH, "refresh": "b"}, "https://a.example": {"key": "NODE_OPTIONS"}}, {"refresh": "b"}),
        ({"a service": {"refresh": "b", "accountId": "x"}}, {"refresh": "b"}),
        ({"a service": {**OAUTH, "type": "wellknown"}}, {}),
        ({"a service": {**OAUTH, "access": {"key": "x"}}}, {}),
        ({"a service": {**OAUTH, "access": ""}}, {}),
        ({"a service": {**OAUTH, "expires": True}}, {}),
        ({"a service": {**OAUTH, "expires": float("nan")}}, {}),
        ({"a service": {**OAUTH, "expires": 1e300}}, {}),
        ({"another": {**OAUTH, "access": "b"}}, {}),
        ({}, {}),
        ([OAUTH], {}),
    ],
)
def test_of_a_changed_login_only_tokens_are_taken_over(copy: Any, expected: dict[str, Any]) -> None:
    """Seen: an agent added a service to the file, from which the person's own client would take its settings."""
    renewed = with_tokens(json.dumps({"a service": OAUTH}).encode(), json.dumps(copy).encode())
    assert (json.loads(renewed) if renewed else {}) == ({"a service": {**OAUTH, **expected}} if expected else {})


@pytest.mark.parametrize("copy", [b"[" * 100_000, b"no json", b"\xff"])
def test_a_login_that_cannot_be_read_is_not_taken_over(copy: bytes) -> None:
    assert with_tokens(OLD.encode(), copy) is None
    assert with_tokens(copy, OLD.encode()) is None


def test_a_client_of_another_version_renews_a_login_of_codex_too() -> None:
    """It adds keys without a value, and leaves out those that it does not know."""
    tokens = {"id_token": "i", "access_token": "a", "refresh_token": "r"}
    lent = {"auth_mode": "chatgpt", "tokens": tokens, "last_refresh": "2026-01-01T00:00:00Z"}
    later = {"last_refresh": "2026-01-09T00:00:00Z"}
    new = {"id_token": "j", "access_token": "b", "refresh_token": "s"}
    copy = {"OPENAI_API_KEY": None, "tokens": {**new, "account_id": None}, **later}
    renewed = with_tokens(json.dumps(lent).encode(), json.dumps(copy).encode())
    assert renewed is not None
    assert json.loads(renewed) == {**lent, "tokens": new, **later}
