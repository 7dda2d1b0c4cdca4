"""The streams of a process that a reaper starts: pipes, our own streams, or nothing. They are made here and passed on.

A process that we start ourselves gets the same from `subprocess`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from io import FileIO
from typing import IO, NamedTuple

from aotloop.process.spec import ProcessSpec


class Streams(NamedTuple):
    theirs: tuple[int, int, int]
    """The descriptors to pass on: input, output, errors."""
    ours: dict[str, IO[bytes]]
    """The other ends of pipes, by name."""


@contextlib.contextmanager
def opened(spec: ProcessSpec, stdin: int) -> Iterator[Streams]:
    """`stdin`: a descriptor; negative: see `spec.stdin`. At the end theirs are closed; after an error, ours as well."""
    with contextlib.ExitStack() as passed, contextlib.ExitStack() as kept:
        ours: dict[str, IO[bytes]] = {}

        def output(name: str) -> int:
            reading, writing = os.pipe()
            passed.callback(os.close, writing)
            ours[name] = kept.enter_context(FileIO(reading, "r"))
            return writing

        if stdin < 0 and spec.stdin == "pipe":
            stdin, writing = os.pipe()
            passed.callback(os.close, stdin)
            ours["stdin"] = kept.enter_context(FileIO(writing, "w"))
        elif stdin < 0:
            stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            passed.callback(os.close, stdin)
        out = output("stdout") if spec.stdout == "pipe" else 1
        errors = output("stderr") if spec.stderr == "pipe" else out if spec.stderr == "stdout" else 2
        yield Streams((stdin, out, errors), ours)
        kept.pop_all()
