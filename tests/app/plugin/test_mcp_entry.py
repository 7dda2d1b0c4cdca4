"""The entry in `.mcp.json` comes and goes, and nothing else in the file changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aotloop.app.plugin.mcp_entry import FILE, add_to_project, remove_from_project
from aotloop.errors import AotError


def test_other_entries_stay(tmp_path: Path) -> None:
    before = {"mcpServers": {"other": {"command": "x"}}, "more": [1]}
    (tmp_path / FILE).write_text(json.dumps(before))
    for _ in range(2):
        content = json.loads(add_to_project(tmp_path).read_text())
        assert content["mcpServers"].pop("aotloop")["args"] == ["mcp"]
        assert content == before
    assert remove_from_project(tmp_path) is True
    assert json.loads((tmp_path / FILE).read_text()) == before
    assert remove_from_project(tmp_path) is False


def test_a_file_of_ours_alone_is_removed_again(tmp_path: Path) -> None:
    add_to_project(tmp_path)
    assert remove_from_project(tmp_path) is True
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 3}', "\x00"])
def test_a_file_that_cannot_be_understood_is_not_written(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(AotError):
        add_to_project(tmp_path)
    assert (tmp_path / FILE).read_text() == text
