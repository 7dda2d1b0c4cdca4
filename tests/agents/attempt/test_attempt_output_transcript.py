"""The beginning and the end of what was printed are on disk, and never more than that."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.attempt.attempt_output import Transcript


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_every_line_is_one_entry(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "t")
    transcript.add("stdout", ["one", 'tw"o\u2028'])
    transcript.add("stderr", ["three"])
    transcript.close({}, "exit 0")
    assert [(entry["stream"], entry["text"]) for entry in entries(tmp_path / "t")] == [
        ("stdout", "one"),
        ("stdout", 'tw"o\u2028'),
        ("stderr", "three"),
        ("note", "exit 0"),
    ]
    assert transcript.problem is None


def test_a_full_transcript_keeps_beginning_and_end_and_says_so(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "t", most=1000)
    for number in range(1000):
        transcript.add("stdout", [f"line {number}"])
    assert transcript.is_full
    transcript.close({"stdout": "line 998\nline 999\n"}, "exit 0")
    texts = [entry["text"] for entry in entries(tmp_path / "t")]
    assert texts[0] == "line 0"
    assert texts[-3:] == ["line 998", "line 999", "exit 0"]
    assert transcript.problem is not None
    assert transcript.problem in texts
    assert (tmp_path / "t").stat().st_size < 2000


@pytest.mark.parametrize("path", ["/dev/full", "missing/t", "link"])
def test_a_transcript_that_cannot_be_written_stops_nothing(tmp_path: Path, path: str) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    transcript = Transcript(tmp_path / path)
    transcript.add("stdout", ["one"])
    transcript.add("stdout", ["two"])
    transcript.close({}, "exit 0")
    assert transcript.problem is not None
    assert transcript.problem.startswith("the transcript is not complete: ")
    assert not (tmp_path / "elsewhere").exists()


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    Transcript(tmp_path / "t").close({}, "")
    assert os.stat(tmp_path / "t").st_mode & 0o077 == 0  # noqa: PTH116
