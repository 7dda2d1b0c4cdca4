"""A run as lines: words for a person's log, JSON for a program. One line for each piece of news, and nothing else."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TextIO

import msgspec

from aotloop.cli.foreign import prose
from aotloop.cli.live.outlet import Outlet
from aotloop.cli.live.words import words
from aotloop.core.model import Loop
from aotloop.runner.news import HalfSpent, News


def as_words(one: News) -> str | None:
    told = words(one)
    return f"{prose(one.at[:40])}  {told}" if told is not None else None


def as_json(one: News) -> bytes:
    try:
        return msgspec.json.encode(one)
    except UnicodeEncodeError:  # an agent may print what is not valid UTF-8
        return json.dumps(msgspec.to_builtins(one), ensure_ascii=False).encode("utf-8", "replace")


class _Lines:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._outlet: Outlet | None = None

    def open(self, loop: Loop) -> None:  # noqa: ARG002
        with suppress(OSError, ValueError):  # what was said before comes first
            self._stream.flush()
        self._outlet = self._outlet or Outlet(self._stream)

    def loop_changed(self, loop: Loop) -> None:
        pass

    def output(self, attempt: int, line: str) -> None:
        pass

    def close(self) -> None:
        if self._outlet is not None:
            self._outlet.close()

    def _put(self, line: bytes) -> None:
        if self._outlet is not None:
            self._outlet.put(line + b"\n")


class PlainLog(_Lines):
    def news(self, one: News) -> None:
        told = as_words(one)
        if told is not None:
            bell = "\a" if isinstance(one, HalfSpent) and self._stream.isatty() else ""
            self._put(f"{told}{bell}".encode(self._stream.encoding or "utf-8", "backslashreplace"))


class JsonLines(_Lines):
    def news(self, one: News) -> None:
        self._put(as_json(one))
