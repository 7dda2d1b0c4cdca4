"""Results of a session count only with the token of their attempt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git.checkouts import make_checkout
from tests.loops import atom
from tests.scripts.calling import call
from tests.scripts.repositories import loop_in_session

DONE = ("--in-place", "--summary", "s")


def test_a_result_from_before_a_redirect_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = a_session(tmp_path, monkeypatch)
    token = call("update_atom", "A1", "in_progress")["token"]
    call("request_redirect")
    call("apply_correction", "add_atom", "--description", "more", "--atom-description", "more")
    now = call("update_atom", "A1", "in_progress")["token"]
    assert now != token
    (folder / "a").write_text("a")
    told = call("integrate", "A1", *DONE, "--token", token, code=1)
    assert "began before a redirect" in told["error"]
    assert call("integrate", "A1", *DONE, "--token", now)["success"]


def test_without_a_token_it_is_said_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_session(tmp_path, monkeypatch)
    call("update_atom", "A1", "in_progress")
    told = call("integrate", "A1", *DONE, "--token", "", code=1)
    assert "update_atom.py A1 in_progress" in str(told)


def a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_checkout(tmp_path / "p")
    monkeypatch.chdir(folder)
    loop_in_session(folder, atom("A1"), atom("A2"))
    return folder
