"""Starts a driver in its own session, and ends every process that it leaves behind, such as a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import psutil

from bench.peers.contenders import Contender

ROOT = Path(__file__).parent.parent.parent
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")


class NotMeasuredError(Exception):
    """Why there is no figure."""


class Answer(msgspec.Struct, frozen=True):
    milliseconds: float
    peak_mib: float
    version: str


class Driven(msgspec.Struct, frozen=True):
    answer: Answer | None
    """None: it was killed, as it was meant to be."""
    wall: float
    """Milliseconds of the whole process."""


def drive(contender: Contender, cache: Path, work: str, steps: int, folder: Path, patience: float) -> Driven:
    """Raises NotMeasuredError."""
    module = f"bench.peers.drivers.{contender.driver}"
    argv = [str(contender.interpreter(cache)), "-W", "ignore", "-m", module, work, str(steps), str(folder)]
    answers, complaints = folder / "answers", folder / "complaints"
    begin = time.perf_counter()
    with answers.open("wb") as out, complaints.open("wb") as err:
        process = subprocess.Popen(
            argv, cwd=folder, env=environ(folder), stdout=out, stderr=err, start_new_session=True
        )
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            raise NotMeasuredError(f"not done in {patience:.0f} s") from None
        finally:
            wall = (time.perf_counter() - begin) * 1000
            _end_session(process)
    if process.returncode not in {0, -signal.SIGKILL}:
        print(complaints.read_text(errors="replace")[-2000:], file=sys.stderr)
        raise NotMeasuredError(_last_line(complaints))
    return Driven(_answered(answers.read_text(errors="replace")), wall)


def answered(contender: Contender, cache: Path, work: str, steps: int, patience: float) -> Answer:
    """In a fresh folder. Raises NotMeasuredError."""
    with scratch() as folder:
        answer = drive(contender, cache, work, steps, folder, patience).answer
    if answer is None:
        raise NotMeasuredError("it gave no answer")
    return answer


def environ(home: Path) -> dict[str, str]:
    """No settings of the user; compiled modules are kept, as in normal use of these programs.

    None of the others has a fence around its steps, so ours is off.
    """
    inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**inherited, "HOME": str(home), "PYTHONPATH": str(ROOT), "DO_NOT_TRACK": "1", "AOT_CONFINE": "off"}


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="peers-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _answered(text: str) -> Answer | None:
    for line in reversed(text.splitlines()):
        with suppress(ValueError, msgspec.ValidationError):
            return msgspec.convert(json.loads(line), Answer)
    return None


def _last_line(complaints: Path) -> str:
    lines = [line for line in complaints.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:120].replace(str(complaints.parent), "…") if lines else "it failed, and said nothing"


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """A session keeps its number while it has a process, so no other process can be hit."""
    for one in psutil.pids():
        with suppress(OSError):
            if os.getsid(one) == process.pid:
                os.kill(one, signal.SIGKILL)
    process.wait()
