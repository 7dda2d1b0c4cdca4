"""Records are whole or not there, and nothing is left lying about."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, keep, record_of


def test_a_record_is_replaced_whole(own_home: Path) -> None:
    record = record_of("kind", "x.md")
    assert record.is_relative_to(own_home)
    keep(record, b"one", "it")
    keep(record, b"two", "it")
    assert [path.read_bytes() for path in record.parent.iterdir()] == [b"two"]


def test_what_cannot_be_kept_leaves_no_draft(own_home: Path) -> None:
    record = record_of("kind", "x.md")
    record.mkdir(parents=True)  # a folder cannot be replaced by a file
    with pytest.raises(Unavailable, match="it cannot be remembered"):
        keep(record, b"one", "it")
    assert list(record.parent.iterdir()) == [record]
    assert own_home.exists()


def test_a_relative_home_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "here")
    monkeypatch.setenv("XDG_DATA_HOME", "there")
    with pytest.raises(Unavailable, match="you have no home folder"):
        data_folder("kind")
