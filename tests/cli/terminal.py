"""Runs `aot` for tests: within this process where that is enough, as a process of its own, or on a real terminal."""

from __future__ import annotations

import codecs
import fcntl
import io
import json
import os
import re
import select
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aotloop.cli.error_handler import guarded
from aotloop.cli.main import run
from tests.patience import PATIENCE, until
from tests.warm import COMMAND, Forked, can_be_forked, start

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Fails unless standard output is JSON and nothing else."""
        return json.loads(self.out)


def aot(*arguments: str) -> Ran:
    """In this process, up to and including the error boundary; not on a terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = guarded(run, arguments)
    return Ran(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def spawn(*arguments: str | bytes, environ: dict[str, str] | None = None, **more: Any) -> Ran:
    """The command as a process of its own, without a terminal."""
    env = _environment(environ)
    if not more and can_be_forked(env):
        process = start([os.fsdecode(one) for one in arguments], Path.cwd(), env)
        out, err = process.communicate(timeout=PATIENCE)
        return Ran(process.wait(), out, err)
    more.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        env=env,
        timeout=PATIENCE,
        check=False,
        **more,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The installed command, left running; ended with the test, if not before."""
    process = subprocess.Popen(
        [COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(None),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Terminal:
    """A person's terminal, with the command in the foreground."""

    def __init__(self, process: Forked, descriptor: int) -> None:
        self._process = process
        self._descriptor = descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end within a character
        self.shown = ""

    @property
    def descriptor(self) -> int:
        return self._descriptor

    def wait_for(self, text: str) -> None:
        until(lambda: text in self.text or not self._read(), lambda: f"{text!r} did not appear in {self.shown!r}")
        assert text in self.text, f"it ended without {text!r}: {self.shown!r}"

    def wait_for_prompt(self, question: str) -> None:
        """Until this is the end of all that was said: the command waits for an answer then. "…" is a gap."""
        assert question.endswith(" "), "only the end of a question shows that all before it has been read"
        end = re.compile(".*".join(re.escape(part) for part in question.split("…")) + r"\Z", re.DOTALL)
        until(lambda: end.search(self.text) or not self._read(), lambda: f"{question!r} is not asked: {self.shown!r}")
        assert end.search(self.text), f"it ended without {question!r}: {self.shown!r}"

    def answer(self, *pairs: tuple[str, str]) -> str:
        """Each question, and a line for it. All that was said since the last answer, up to the last question here."""
        said = ""
        for question, line in pairs:
            self.wait_for_prompt(question)
            said += self.text
            self.shown = ""
            self.type(f"{line}\n")
        return said

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def end(self) -> int:
        """The exit code, once everything that was printed has been read."""
        until(lambda: not self._read(), lambda: f"it does not end: {self.shown!r}")
        return self._process.wait(PATIENCE)

    @property
    def text(self) -> str:
        """Without colours, and with plain line ends."""
        return COLOUR.sub("", self.shown).replace("\r\n", "\n")

    def _read(self) -> bool:
        if not select.select([self._descriptor], [], [], 1)[0]:
            return True
        try:
            data = os.read(self._descriptor, 1 << 16)
        except OSError:  # how Linux says that nobody has the other end any more
            return False
        self.shown += self._decoder.decode(data)
        return bool(data)


@contextmanager
def terminal(*arguments: str, columns: int = 80, environ: dict[str, str] | None = None) -> Iterator[Terminal]:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    env = _environment({"TERM": "xterm-256color", **(environ or {})})
    assert can_be_forked(env)
    process = Forked([COMMAND, *arguments], Path.cwd(), env, [theirs] * 3, terminal=True)
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def on_terminal(*arguments: str, columns: int = 80, environ: dict[str, str] | None = None) -> tuple[int, Terminal]:
    """Run to its end without typing anything."""
    with terminal(*arguments, columns=columns, environ=environ) as screen:
        return screen.end(), screen


def _environment(more: dict[str, str] | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "TERM")}
    return {**kept, **(more or {})}
