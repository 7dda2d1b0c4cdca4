"""What a process prints is followed while it prints it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from aotloop.agents.answers import MOST_BYTES
from aotloop.agents.following import Following


def followed(folder: Path, program: str, lines: list[str]) -> Following:
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    async def follow() -> Following:
        following = Following(folder / "transcript.jsonl", lines.append)
        following.attach(process)
        await following.until_closed(60)
        following.close("over")
        return following

    try:
        return asyncio.run(follow())
    finally:
        process.wait()


def test_ends_are_kept_and_lines_handed_on(tmp_path: Path) -> None:
    lines: list[str] = []
    program = "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr)"
    following = followed(tmp_path, program, lines)
    assert sorted(lines) == ["err", "out"]
    assert {name: tail.text() for name, tail in following.tails.items()} == {"stdout": "out\n", "stderr": "err\n"}
    assert following.last_output is not None
    assert following.problems == ()


def test_silence_is_not_output(tmp_path: Path) -> None:
    assert followed(tmp_path, "", []).last_output is None


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
