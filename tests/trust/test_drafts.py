"""A draft that was looked at is named by its digest, and nothing else can be agreed on by that name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aotloop.errors import AotError
from aotloop.trust.drafts import draft_named, forget_draft, is_name, keep_draft
from aotloop.trust.folder import record_of


def test_what_was_kept_is_found_by_its_name_byte_for_byte(tmp_path: Path) -> None:
    file = str(tmp_path / "state.md")
    content = "goal: Grüße\r\n".encode() + b"\xff\x00"
    name = keep_draft(file, content)
    assert is_name(name)
    assert draft_named(file, name) == content
    assert keep_draft(file, content) == name


def test_only_the_last_draft_of_this_file_is_found(tmp_path: Path) -> None:
    file, other = str(tmp_path / "state.md"), str(tmp_path / "other.md")
    first = keep_draft(file, b"one")
    second = keep_draft(file, b"two")
    with pytest.raises(AotError, match=f"that is {second}"):
        draft_named(file, first)
    with pytest.raises(AotError, match="no draft is kept"):
        draft_named(other, second)
    forget_draft(file)
    with pytest.raises(AotError, match="no draft is kept"):
        draft_named(file, second)


def test_a_draft_that_was_changed_behind_the_person_s_back_is_refused(tmp_path: Path) -> None:
    file = str(tmp_path / "state.md")
    name = keep_draft(file, b"goal: one")
    record = record_of("drafts", file)
    kept = json.loads(record.read_bytes())
    record.write_text(json.dumps({**kept, "content": "Z29hbDogdHdv"}))
    with pytest.raises(AotError, match="was changed since it was shown"):
        draft_named(file, name)
    record.write_bytes(b"not json")
    with pytest.raises(AotError, match="no draft is kept"):
        draft_named(file, name)
