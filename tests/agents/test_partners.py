"""Who talks with a process never waits for it, and can have it ended."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from aotloop.agents.launching import Launch
from aotloop.agents.partners import Reins
from aotloop.agents.processes import Ran, run

ECHO = "import sys; [print(len(line), flush=True) for line in sys.stdin]"


class Talker:
    def __init__(self, words: bytes, *, end: str = "finish") -> None:
        self._words = words
        self._end = end
        self.heard: dict[str, bytes] = {"stdout": b"", "stderr": b""}

    def begin(self, reins: Reins) -> None:
        self.reins = reins
        reins.write(self._words)
        if self._end == "finish":
            reins.finish(60)
        reins.write(b"too late\n" if self._end == "finish" else b"")

    def hear(self, stream: str, chunk: bytes) -> None:
        self.heard[stream] += chunk
        if self._end == "stop":
            self.reins.stop_in(0)


def talked(folder: Path, program: str, talker: Talker, **more: Any) -> Ran:
    values: dict[str, Any] = {"env": {"PATH": os.environ["PATH"]}, "transcript": folder / "t", "converses": True}
    launch = Launch(argv=(sys.executable, "-c", program), cwd=folder, **{**values, **more})
    lines: list[str] = []
    ran = asyncio.run(run(launch, lines.append, talker))
    assert lines == [], "it is the partner who hears"
    return ran


def test_what_is_written_arrives_and_the_end_too(tmp_path: Path) -> None:
    talker = Talker(b"abc\n")
    ran = talked(tmp_path, ECHO, talker)
    assert (ran.exit_code, talker.heard["stdout"]) == (0, b"4\n")


def test_megabytes_to_one_who_reads_late_are_no_deadlock(tmp_path: Path) -> None:
    talker = Talker(b"x" * 3_000_000 + b"\n")
    ran = talked(tmp_path, f"import time; print('y' * 500_000, flush=True); time.sleep(0.1); {ECHO}", talker)
    assert ran.exit_code == 0
    assert talker.heard["stdout"].endswith(b"\n3000001\n")


def test_one_who_never_reads_does_no_harm(tmp_path: Path) -> None:
    assert talked(tmp_path, "raise SystemExit(3)", Talker(b"x" * 3_000_000, end="")).exit_code == 3


def test_it_can_be_ended(tmp_path: Path) -> None:
    program = "import sys, time; print('here', file=sys.stderr, flush=True); time.sleep(3600)"
    talker = Talker(b"", end="stop")
    ran = talked(tmp_path, program, talker)
    assert (ran.exit_code, ran.signal, ran.timed_out, ran.ending) == (None, None, None, "ended by us")
    assert talker.heard["stderr"] == b"here\n"


def test_without_an_input_nothing_is_written(tmp_path: Path) -> None:
    assert talked(tmp_path, ECHO, Talker(b"abc\n"), converses=False).exit_code == 0
