"""A lock is held by one, and by nobody once its holder is gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.workspace.locks import held, try_lock, unlock


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first = try_lock(path)
    assert first is not None
    assert try_lock(path) is None
    unlock(path, first, remove=False)
    second = try_lock(path)
    assert second is not None
    unlock(path, second, remove=True)
    assert not path.exists()


def test_a_lock_that_was_removed_while_it_was_waited_for_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    really_open = os.open

    def open_then_lose(*words: object) -> int:
        descriptor = really_open(*words)  # type: ignore[arg-type]
        path.unlink()
        return descriptor

    monkeypatch.setattr(os, "open", open_then_lose)
    assert try_lock(path) is None


def test_waiting_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held(path, patience=1, what="testing"):  # noqa: SIM117 - one within the other
        with pytest.raises(Unavailable, match="another process keeps"), held(path, patience=0.1, what="testing"):
            pass
    with held(path, patience=0, what="testing"):
        pass
