"""Reads the events of a run and the output of its attempts from the journal; it trusts nothing in it.

It ignores lines that are not events, missing files, and folders outside the journal.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aotloop.execution import run_events, ship_events
from aotloop.execution.journals.file_tail import FollowedLines, last_bytes
from aotloop.execution.journals.journal import EVENTS, FOLDER
from aotloop.execution.run_events import AttemptBegan, RunBegan, RunEvent
from aotloop.statefile.locate import project_root
from aotloop.text.shorten import terminal_lines

TRANSCRIPT = "transcript.jsonl"
MOST_SEARCHED = 64 << 20
"""The number of bytes from the end of the events that are searched."""
TAIL_BYTES = (16 << 10, 1 << 20)
"""Bytes of a transcript: usually enough, and enough for a very long line."""

AnyEvent = (
    run_events.RunBegan
    | run_events.AgentFound
    | run_events.Warned
    | run_events.CorrectionTaken
    | run_events.Paused
    | run_events.PauseEnded
    | run_events.EndAnnounced
    | run_events.RunEnded
    | run_events.AttemptBegan
    | run_events.AttemptEnded
    | run_events.Merged
    | run_events.NotMerged
    | run_events.TakenBack
    | run_events.AtomResolved
    | run_events.AtomFailed
    | run_events.NothingLeft
    | run_events.SwitchedTo
    | run_events.AtomsReopened
    | run_events.AtomsAdded
    | run_events.PartsWithdrawn
    | run_events.HalfSpent
    | run_events.GenerationEnded
    | run_events.Verifying
    | run_events.Verified
    | run_events.JudgeAsked
    | ship_events.ShipBegan
    | ship_events.PhaseEntered
    | ship_events.ReceiptJudged
    | ship_events.TurnEnded
    | ship_events.ShipEnded
)
"""To read lines back: `msgspec.json.decode(line, type=AnyEvent)`."""

_DECODER = msgspec.json.Decoder(AnyEvent)
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
        """Starts at the last run; with `pid`, only at a run of this process."""
        data, begin = last_bytes(self.path, MOST_SEARCHED)
        found = len(data)
        while (found := data.rfind(b'"run_began"', 0, found)) >= 0:
            start = data.rfind(b"\n", 0, found) + 1
            event = news_of(data[start:].partition(b"\n")[0])
            if isinstance(event, RunBegan):
                is_it = pid is None or event.pid == pid
                self._lines.start_at(begin + (start if is_it else data.rfind(b"\n") + 1))
                return
        self._lines.start_at(begin if pid is None else begin + data.rfind(b"\n") + 1)

    def start_near_end(self, most: int) -> None:
        self._lines.start_at(last_bytes(self.path, most)[1])

    def fresh(self) -> list[bytes]:
        return self._lines.fresh()

    def all_events(self) -> Iterator[RunEvent]:
        """Oldest first, with those that were put aside when the file grew too large."""
        for path in (self.path.with_name(f"old-{EVENTS}"), self.path):
            data, _ = last_bytes(path, MOST_SEARCHED)
            for line in data.split(b"\n"):
                if line and (event := news_of(line)) is not None:
                    yield event

    def attempts_at(self, atom: str) -> list[AttemptBegan]:
        """Attempts in the journal, in the order in which they began."""
        data, _ = last_bytes(self.path, MOST_SEARCHED)
        lines = (line for line in data.split(b"\n") if b'"attempt_began"' in line)
        return [event for event in map(news_of, lines) if isinstance(event, AttemptBegan) and event.atom == atom]

    def folder_of(self, attempt_folder: str) -> Path | None:
        """The journal folder of an attempt; None if it was removed, or is outside the journals."""
        try:
            place = (self._root / FOLDER).resolve()
            folder = (self._root / attempt_folder).resolve()
            return folder if attempt_folder and folder.is_relative_to(place) and folder.is_dir() else None
        except (OSError, ValueError, RuntimeError):  # not a file name, or circular links
            return None

    def output_of(self, attempt_folder: str, most: int) -> list[str]:
        """The last lines that the agent printed, safe to show."""
        folder = self.folder_of(attempt_folder)
        for size in TAIL_BYTES if folder is not None else ():
            texts = list(_texts(last_bytes(folder / TRANSCRIPT, size)[0])) if folder is not None else []
            if texts:
                return terminal_lines("\n".join(texts), most)
        return []

    def sign_of_output(self, attempt_folder: str) -> tuple[int, int] | None:
        """A value that differs after new output."""
        try:
            status = os.stat(self._root / attempt_folder / TRANSCRIPT)  # noqa: PTH116 - called many times a second
        except (OSError, ValueError):
            return None
        return status.st_size, status.st_mtime_ns


def news_of(line: bytes) -> RunEvent | None:
    """None if the line is not an event, or an event of an unknown kind."""
    try:
        event: RunEvent = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return event


def is_passed_on(line: bytes) -> bool:
    """True for a JSON object with a kind, also an unknown kind."""
    try:
        value = _ANYTHING.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(value, dict) and "kind" in value


def _texts(data: bytes) -> Iterator[str]:
    for line in data.split(b"\n"):
        try:
            printed = _PRINTED.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if printed.stream != "note" and printed.text.strip():
            yield printed.text
