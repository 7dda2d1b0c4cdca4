"""What a person said counts for the session and the kind it was said in, once, and until it is said anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.trust import human_approvals
from aotloop.trust.human_approvals import Word

WORD = Word(kind="approve", session="s1", folder="/project", about="abc", options={"max-iterations": 3})


def test_what_was_said_is_found_by_session_and_kind_until_it_was_acted_on() -> None:
    human_approvals.note(WORD)
    assert human_approvals.approval_of("approve", "s1") == WORD
    assert human_approvals.approval_of("approve", "s2") is None
    assert human_approvals.approval_of("advance", "s1") is None
    human_approvals.take(WORD)
    assert human_approvals.approval_of("approve", "s1") is None
    human_approvals.take(WORD)


def test_the_last_word_counts() -> None:
    human_approvals.note(WORD)
    human_approvals.note(Word(kind="approve", session="s1", folder="/project", about="def"))
    word = human_approvals.approval_of("approve", "s1")
    assert word is not None
    assert word.about == "def"


@pytest.mark.parametrize("content", [b"", b"{", b'{"kind": "approve"}', b'{"kind": "dance", "session": "s1"}'])
def test_what_cannot_be_read_was_not_said(own_home: Path, content: bytes) -> None:
    human_approvals.note(WORD)
    (record,) = (own_home / ".local" / "share" / "aotloop" / "spoken").iterdir()
    record.write_bytes(content)
    assert human_approvals.approval_of("approve", "s1") is None


def test_a_record_under_another_name_says_nothing(own_home: Path) -> None:
    human_approvals.note(WORD)
    (record,) = (own_home / ".local" / "share" / "aotloop" / "spoken").iterdir()
    human_approvals.note(Word(kind="approve", session="s2", folder="/project"))
    other = next(path for path in record.parent.iterdir() if path != record)
    other.write_bytes(record.read_bytes())
    assert human_approvals.approval_of("approve", "s2") is None


def test_a_home_that_cannot_be_written_to_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(Unavailable, match="what you said cannot be remembered"):
        human_approvals.note(WORD)
    assert human_approvals.approval_of("approve", "s1") is None
