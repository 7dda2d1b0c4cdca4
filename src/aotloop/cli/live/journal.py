"""What a run leaves in its journal for those who watch: news, and what its attempts printed. Nothing in it is trusted.

Lines that are no news, files that are gone and folders that lie elsewhere are as good as nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aotloop.cli.foreign import last_lines
from aotloop.cli.live.following import FollowedLines, last_bytes
from aotloop.runner.journal import EVENTS, FOLDER
from aotloop.runner.news import AnyNews, AttemptBegan, HalfSpent, News, RunBegan
from aotloop.statefile.locate import project_root

TRANSCRIPT = "transcript.jsonl"
MOST_SEARCHED = 64 << 20
"""Bytes of the events, from their end."""
TAIL_BYTES = (16 << 10, 1 << 20)
"""Of a transcript: usually enough, and enough for a very long line."""

_DECODER = msgspec.json.Decoder(AnyNews)
_ANYTHING = msgspec.json.Decoder()


class _Printed(msgspec.Struct):
    stream: str
    text: str


_PRINTED = msgspec.json.Decoder(_Printed)


class EventsFile:
    def __init__(self, state_file: str) -> None:
        self._root = Path(project_root(state_file))
        self.path = self._root / FOLDER / EVENTS
        self._lines = FollowedLines(self.path)

    def start_at_last_run(self, pid: int | None) -> None:
        """Of this process, if one is given: what another run left before is not what is watched."""
        data, begin = last_bytes(self.path, MOST_SEARCHED)
        found = len(data)
        while (found := data.rfind(b'"run_began"', 0, found)) >= 0:
            start = data.rfind(b"\n", 0, found) + 1
            one = news_of(data[start:].partition(b"\n")[0])
            if isinstance(one, RunBegan):
                is_it = pid is None or one.pid == pid
                self._lines.start_at(begin + (start if is_it else data.rfind(b"\n") + 1))
                return
        self._lines.start_at(begin if pid is None else begin + data.rfind(b"\n") + 1)

    def start_near_end(self, most: int) -> None:
        self._lines.start_at(last_bytes(self.path, most)[1])

    def fresh(self) -> list[bytes]:
        return self._lines.fresh()

    def attempts_at(self, atom: str) -> list[AttemptBegan]:
        """Those of which the journal knows, in the order in which they began."""
        data, _ = last_bytes(self.path, MOST_SEARCHED)
        lines = (line for line in data.split(b"\n") if b'"attempt_began"' in line)
        return [one for one in map(news_of, lines) if isinstance(one, AttemptBegan) and one.atom == atom]

    def half_spent_in(self, run_id: str | None) -> list[HalfSpent]:
        """What the last run told a person to look at, if it was one of this loop."""
        self.start_at_last_run(None)
        lines = self.fresh()
        began = news_of(lines[0]) if lines else None
        if not isinstance(began, RunBegan) or began.run_id != run_id:
            return []
        told = (news_of(line) for line in lines if b'"half_spent"' in line)
        return [one for one in told if isinstance(one, HalfSpent)]

    def folder_of(self, attempt_folder: str) -> Path | None:
        """Where the journal of an attempt is; None if it is gone, or not where journals are."""
        try:
            place = (self._root / FOLDER).resolve()
            folder = (self._root / attempt_folder).resolve()
            return folder if attempt_folder and folder.is_relative_to(place) and folder.is_dir() else None
        except (OSError, ValueError, RuntimeError):  # no name for a file, or links in a circle
            return None

    def output_of(self, attempt_folder: str, most: int) -> list[str]:
        """The last lines that its agent printed, fit to be shown."""
        folder = self.folder_of(attempt_folder)
        for size in TAIL_BYTES if folder is not None else ():
            texts = list(_texts(last_bytes(folder / TRANSCRIPT, size)[0])) if folder is not None else []
            if texts:
                return last_lines("\n".join(texts), most)
        return []

    def sign_of_output(self, attempt_folder: str) -> tuple[int, int] | None:
        """Another one if more was printed."""
        try:
            status = os.stat(self._root / attempt_folder / TRANSCRIPT)  # noqa: PTH116 - asked many times a second
        except (OSError, ValueError):
            return None
        return status.st_size, status.st_mtime_ns


def news_of(line: bytes) -> News | None:
    """None if the line is none, or a kind of news that is not known here."""
    try:
        one: News = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return one


def is_passed_on(line: bytes) -> bool:
    """Whether it is an object of JSON with a kind, be it one that is not known here."""
    try:
        one = _ANYTHING.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(one, dict) and "kind" in one


def _texts(data: bytes) -> Iterator[str]:
    for line in data.split(b"\n"):
        try:
            one = _PRINTED.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if one.stream != "note" and one.text.strip():
            yield one.text
