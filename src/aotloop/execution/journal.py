"""Only this module knows the files in `.aot/`: evidence, and records that save a resumed run from paying twice.

    .aot/.gitignore                    it ignores itself
    .aot/events.jsonl                  what happened, line by line; see aotloop.execution.run_events
    .aot/attempts/<atom>-<n>/          prompt.md, transcript.jsonl, … of the agent; our record.json with
                                       the result, which becomes used.json once it is used
    .aot/judgements/<item>-…/          the same of an agent that judged an item of the base case
    .aot/sittings/<run>/               conversations that can go on, for as long as a run lasts

The journal is no state. If it cannot be written, the evidence is lost, and the run goes on.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.errors import Unavailable
from aotloop.execution.records import Kept, Record
from aotloop.execution.run_events import RunEvent
from aotloop.git.attempt_commit import name_of
from aotloop.statefile.durable import JOURNALS
from aotloop.text.encodable import encodable

FOLDER = JOURNALS
EVENTS = "events.jsonl"
RECORD = "record.json"
USED = "used.json"
_MOST_OF_A_RECORD = 2_000_000
MOST_BYTES = 20_000_000
"""The most bytes of the events; then they become the old events, and the old ones before are deleted."""


class Journal:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / FOLDER
        self.problem: str | None = None
        """Why a file could not be written."""
        self._events: int | None = None
        self._encoder = msgspec.json.Encoder()

    def open(self) -> None:
        """Raises Unavailable if a link would lead our files to another place."""
        self._refuse_links()
        with self._noting():
            self.folder.mkdir(exist_ok=True)
            ignore = self.folder / ".gitignore"
            if not os.path.lexists(ignore):
                ignore.write_text("*\n")
            events = self.folder / EVENTS
            if events.is_file() and events.stat().st_size > MOST_BYTES:
                events.replace(events.with_name(f"old-{EVENTS}"))
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._events = os.open(events, flags, 0o644)
            if not _ends_a_line(events):
                os.write(self._events, b"\n")  # a process that was killed left half a line

    def _refuse_links(self) -> None:
        """Links come with a repository, or from an agent; we may not write to their targets."""
        for folder in (self.folder, *(self.folder / name for name in ("attempts", "judgements", "sittings"))):
            if folder.is_symlink():
                raise Unavailable(
                    f"{folder} is a link; journals are written inside of the project only",
                    hint="Remove the link: a folder is made in its place.",
                )

    def close(self) -> None:
        if self._events is not None:
            os.close(self._events)
            self._events = None

    def note(self, news: RunEvent) -> None:
        if self._events is not None and not os.fstat(self._events).st_nlink:  # the folder was removed while we run
            self.close()
            try:
                self.open()
            except Unavailable as error:
                self.problem = self.problem or f"the journal in {FOLDER} is not complete: {error.message}"
        if self._events is not None:
            with self._noting():
                os.write(self._events, self._encoder.encode(news) + b"\n")

    # --- attempts ------------------------------------------------------------------------------------------------

    def attempt_folder(self, atom: str, attempt: int) -> Path:
        return self.folder / "attempts" / name_of(atom, attempt)

    def judgement_folder(self, item: str) -> Path:
        """A new one each time."""
        parent = self.folder / "judgements"
        parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=name_of(item, ""), dir=parent))

    def sittings_folder(self, run_id: str) -> Path:
        return self.folder / "sittings" / name_of(run_id, "")

    def keep(self, record: Record) -> None:
        """Written whole or not at all. A crash of the machine may lose it: then the attempt is made again."""
        folder = self.attempt_folder(record.atom, record.attempt)
        draft, content = f"{folder}/.{RECORD}", self._encoded(record)
        with self._noting():
            try:
                _write(draft, content)
            except FileNotFoundError:  # no agent has made its folder
                folder.mkdir(parents=True)
                _write(draft, content)
            os.replace(draft, f"{folder}/{RECORD}")  # noqa: PTH105 - every attempt pays for this

    def _encoded(self, record: Record) -> bytes:
        try:
            return self._encoder.encode(record)
        except UnicodeEncodeError:
            return self._encoder.encode(encodable(record))

    def use(self, record: Record) -> None:
        """Its result was used, or given up: from now on it is only evidence."""
        folder = self.attempt_folder(record.atom, record.attempt)
        with self._noting(), contextlib.suppress(FileNotFoundError):
            os.replace(f"{folder}/{RECORD}", f"{folder}/{USED}")  # noqa: PTH105 - as above

    def give_up(self, atom: str, attempt: int) -> None:
        """The files of this attempt will not be used. Its cost is still counted."""
        record = self._record(self.attempt_folder(atom, attempt))
        if record is not None and not record.bill.is_empty and not record.is_accounted:
            self.keep(replace(record, work=None, report=None))
        elif record is not None:
            self.use(record)

    def records(self, run_id: str) -> list[Record]:
        """The records of one run, in the order of their attempts; unreadable records count as lost."""
        return sorted((record for record in self._all() if record.run_id == run_id), key=lambda record: record.attempt)

    def kept(self, atom: str, run_id: str) -> Kept | None:
        """The start that the last ended attempt on this atom left for the next; None: it left none."""
        prefix = name_of(atom, "")
        numbers = [name.removeprefix(prefix) for name in self._names() if name.startswith(prefix)]
        for number in sorted((int(digits) for digits in numbers if digits.isdecimal()), reverse=True):
            record = self._ended(self.attempt_folder(atom, number))
            if record is not None and record.role == "worker" and record.report is not None:
                said = (record.atom, record.attempt, record.run_id)
                return record.kept if said == (atom, number, run_id) else None
        return None

    def last_attempt(self) -> int:
        """The highest number that any attempt had; 0: there was none."""
        numbers = (name.rpartition("-")[2] for name in self._names())
        return max((int(digits) for digits in numbers if digits.isdecimal()), default=0)

    def _all(self) -> Iterator[Record]:
        for name in self._names():
            if (record := self._record(self.folder / "attempts" / name)) is not None:
                yield record

    def _record(self, folder: Path) -> Record | None:
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode((folder / RECORD).read_bytes(), type=Record)
        return None

    def _ended(self, folder: Path) -> Record | None:
        """The record of an ended attempt, used or not."""
        for name in (RECORD, USED):
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                return msgspec.json.decode(_content(folder / name), type=Record)
        return None

    def _names(self) -> list[str]:
        with contextlib.suppress(OSError):
            return os.listdir(self.folder / "attempts")  # noqa: PTH208 - names are enough
        return []

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.problem = self.problem or f"the journal in {FOLDER} is not complete: {error.strerror}"
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON cannot hold
            self.problem = self.problem or f"the journal in {FOLDER} is not complete: something was no valid text"


def _write(path: str, content: bytes) -> None:
    """Writes a new file: an agent may have put a link in its place, in the folder that is open to it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o666)
    except FileExistsError:
        os.unlink(path)  # noqa: PTH108 - as above
        descriptor = os.open(path, flags, 0o666)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def _content(path: Path) -> bytes:
    """Reads a regular file, up to the size of a record: the folder was open to an agent."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST_OF_A_RECORD) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
