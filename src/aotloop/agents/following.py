"""Follows what a process prints, in the thread of the event loop, in bounded memory: it keeps ends, and hands on lines.

Once the transcript is full, only the last line of each chunk is handed on: a flood is watched, not read.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import IO

from aotloop.agents.answers import MOST_BYTES
from aotloop.agents.streams import Lines, Tail
from aotloop.agents.transcript import Transcript

_CHUNK = 32 * 1024
_OUTPUT_BYTES = 8 * 1024
_MOST_LEFT = 64
"""Chunks that are still taken when all is over. A pipe holds less, unless somebody whom we could not find goes on."""


class Following:
    def __init__(
        self, transcript: Path, on_output: Callable[[str], None], on_chunk: Callable[[str, bytes], None] | None = None
    ) -> None:
        """`on_chunk` gets all there is, as it came; then `on_output` gets nothing from here."""
        self._loop = asyncio.get_running_loop()
        self._transcript = Transcript(transcript)
        self._on_output = on_output
        self._on_chunk = on_chunk
        self._open: dict[str, IO[bytes]] = {}
        self._lines = {"stdout": Lines(), "stderr": Lines()}
        self._closed = asyncio.Event()
        self._fault: Exception | None = None
        self.on_fault: Callable[[], object] = lambda: None
        self.tails = {"stdout": Tail(MOST_BYTES), "stderr": Tail(MOST_BYTES)}
        self.output = Tail(_OUTPUT_BYTES)
        self.started = self._loop.time()
        self.last_output: float | None = None

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
            if pipe is None:
                raise AssertionError("started with pipes")
            self._open[name] = pipe
            os.set_blocking(pipe.fileno(), False)
            self._loop.add_reader(pipe, self._readable, name)

    async def until_closed(self, seconds: float) -> None:
        """Until nobody can print any more, or the time is up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    @property
    def seconds(self) -> float:
        return self._loop.time() - self.started

    @property
    def problems(self) -> tuple[str, ...]:
        return (self._transcript.problem,) if self._transcript.problem is not None else ()

    def raise_fault(self) -> None:
        """What our own caller did wrong with a line of output is not lost."""
        if self._fault is not None:
            raise self._fault

    def close(self, ending: str) -> None:
        for name in list(self._open):
            for _ in range(_MOST_LEFT):
                if not self._readable(name):
                    break
            self._let_go(name)
        for name, lines in self._lines.items():
            self._hand_on(name, lines.end())
        self._transcript.close({name: tail.text() for name, tail in self.tails.items()}, ending)

    def _readable(self, name: str) -> bool:
        """Takes one chunk; whether more may be there."""
        if name not in self._open:
            return False
        try:
            chunk = os.read(self._open[name].fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self._let_go(name)
            return False
        self.last_output = self._loop.time()
        self.tails[name].add(chunk)
        self.output.add(chunk)
        lines = self._lines[name]
        self._hand_on(name, lines.skim(chunk) if self._transcript.is_full else lines.add(chunk), chunk)
        return True

    def _hand_on(self, name: str, lines: list[str], chunk: bytes = b"") -> None:
        self._transcript.add(name, lines)
        try:
            if self._on_chunk is not None:
                self._on_chunk(name, chunk)
                return
            for line in lines:
                self._on_output(line)
        except Exception as fault:  # noqa: BLE001 - raised where the attempt is waited for, not in the event loop
            self._fault = self._fault or fault
            self.on_fault()

    def _let_go(self, name: str) -> None:
        pipe = self._open.pop(name, None)
        if pipe is not None:
            self._loop.remove_reader(pipe)
            pipe.close()
        if not self._open:
            self._closed.set()
