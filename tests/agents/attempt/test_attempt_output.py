"""What a process prints is followed while it prints it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from aotloop.agents.answers.extraction import MOST_BYTES
from aotloop.agents.attempt.attempt_output import Following
from aotloop.process.async_run import run
from aotloop.process.spec import ProcessSpec


def followed(folder: Path, program: str, lines: list[str]) -> Following:
    following = Following(folder / "transcript.jsonl", lines.append)
    asyncio.run(run(ProcessSpec(argv=(sys.executable, "-c", program), env={}), following))
    following.hand_on_the_rest()
    following.close("over")
    return following


def test_ends_are_kept_and_lines_handed_on(tmp_path: Path) -> None:
    lines: list[str] = []
    program = "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr)"
    following = followed(tmp_path, program, lines)
    assert sorted(lines) == ["err", "out"]
    assert {name: tail.text() for name, tail in following.tails.items()} == {"stdout": "out\n", "stderr": "err\n"}
    assert following.problems == ()


def test_a_flood_is_watched_but_not_read_line_by_line(tmp_path: Path) -> None:
    lines: list[str] = []
    program = "import sys\nfor _ in range(40): sys.stdout.write('y\\n' * 500_000)\nprint('last')"
    following = followed(tmp_path, program, lines)
    assert len(lines) < 1_000_000
    assert lines[-1] == "last"
    assert following.tails["stdout"].text().endswith("y\nlast\n")
    assert len(following.tails["stdout"].text()) == MOST_BYTES
    assert (tmp_path / "transcript.jsonl").stat().st_size < 30_000_000
    assert len(following.problems) == 1
