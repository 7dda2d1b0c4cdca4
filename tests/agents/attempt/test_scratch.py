"""Nothing in an attempt's folder is older than the attempt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aotloop.agents.attempt.scratch import prepare
from aotloop.core.model import Binding
from aotloop.errors import Unavailable
from tests.agents.assignments import an_assignment


def test_prompt_and_bindings_are_there(tmp_path: Path) -> None:
    assignment = an_assignment(tmp_path, prompt="grün\ud800", bindings={"A0": Binding(summary="s")})
    prepare(assignment)
    assert (assignment.scratch / "prompt.md").read_text() == "grün?"
    assert json.loads((assignment.scratch / "bindings.json").read_text()) == {"A0": {"summary": "s", "artifacts": []}}


def test_what_an_earlier_attempt_left_is_taken_away(tmp_path: Path) -> None:
    assignment = an_assignment(tmp_path, prompt="do it")
    (assignment.scratch / "result.json").mkdir(parents=True)
    (assignment.scratch / "transcript.jsonl").write_text("old")
    (tmp_path / "other").write_text("kept")
    (assignment.scratch / "prompt.md").symlink_to(tmp_path / "other")
    prepare(assignment)
    assert sorted(path.name for path in assignment.scratch.iterdir()) == ["bindings.json", "prompt.md"]
    assert (tmp_path / "other").read_text() == "kept"


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "scratch").write_text("in the way")
    with pytest.raises(Unavailable, match="the folder of an attempt cannot be used"):
        prepare(an_assignment(tmp_path))
