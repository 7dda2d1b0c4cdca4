"""Only this module knows the files in `.aot/`: evidence, and records that save a resumed run from paying twice.

    .aot/.gitignore                    it ignores itself
    .aot/events.jsonl                  what happened, line by line; see aotloop.execution.run_events
    .aot/attempts/<atom>-<n>/          prompt.md, transcript.jsonl, result.json; our record.json with the result,
                                       which becomes used.json once it is used; record.codes proves that it is ours;
                                       meter.json: what it has used so far, if the run is killed. `retention` bounds it
    .aot/judgements/<item>-…/          the same of an agent that judged an item of the base case
    .aot/sittings/<run>/               conversations that can go on, for as long as a run lasts

The journal is no state. If it cannot be written, the evidence is lost, and the run goes on.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.errors import Unavailable
from aotloop.execution.journals.records import Kept, Record, Work, doubted
from aotloop.execution.journals.retention import Retention, number_in
from aotloop.execution.run_events import RunEvent
from aotloop.foreign_files import open_to_append, read_foreign, write_new
from aotloop.git.commits.attempt_commit import name_of
from aotloop.statefile.durable import JOURNALS
from aotloop.text.encodable import encodable
from aotloop.trust.seal import code_for, is_sealed

FOLDER = JOURNALS
EVENTS = "events.jsonl"
RECORD = "record.json"
USED = "used.json"
CODES = "record.codes"
METER = "meter.json"
_MOST_OF_A_RECORD = 2_000_000
MOST_BYTES = 20_000_000
"""The most bytes of the events, also during a run; then they become the old events, and those before are deleted."""


class Journal:
    def __init__(self, root: Path, max_mb: int | None = None) -> None:
        """`max_mb`: for the evidence of ended attempts; None: nothing is removed."""
        self.root = root
        self.folder = root / FOLDER
        attempts = self.folder / "attempts"
        bounds = Retention(attempts, USED, (max_mb or 0) * 1_000_000, writing=self._writing)
        self._retention = bounds if max_mb is not None else None
        self.problem: str | None = None
        """Why a file could not be written."""
        self.written: list[str] = []  # names of attempts whose records this process writes or removes: see _writing
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
            if events.is_file() and not events.is_symlink() and events.stat().st_size > MOST_BYTES:
                events.replace(events.with_name(f"old-{EVENTS}"))
            self._events = open_to_append(events)
            if not _ends_a_line(self._events):
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
        status = os.fstat(self._events) if self._events is not None else None
        if status is not None and (not status.st_nlink or status.st_size > MOST_BYTES):
            self.close()  # the folder was removed while we run, or the file is full
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
        with self._noting(), self._writing(folder):
            try:
                write_new(draft, content, 0o666)
            except FileNotFoundError:  # no agent has made its folder
                folder.mkdir(parents=True)
                write_new(draft, content, 0o666)
            self._seal(folder, content)
            os.replace(draft, f"{folder}/{RECORD}")  # noqa: PTH105 - every attempt pays for this

    def _seal(self, folder: Path, content: bytes) -> None:
        """The code comes before the record; the code before stays, as long as the record of that code is there."""
        with contextlib.suppress(Unavailable):  # without a home: then the record is as good as one of others
            new = code_for(_purpose(folder), content)
            write_new(f"{folder}/.{CODES}", "\n".join([new, *_codes(folder)[:1]]).encode())
            os.replace(f"{folder}/.{CODES}", f"{folder}/{CODES}")  # noqa: PTH105 - as above

    def _encoded(self, record: Record) -> bytes:
        try:
            return self._encoder.encode(record)
        except UnicodeEncodeError:
            return self._encoder.encode(encodable(record))

    def note_meter(self, record: Record) -> None:
        """What an attempt under way has used by now. It counts only if this run dies before the attempt has ended."""
        folder = self.attempt_folder(record.atom, record.attempt)
        with contextlib.suppress(OSError):
            write_new(folder / f".{METER}", self._encoded(record), 0o666)
            (folder / f".{METER}").replace(folder / METER)

    def use(self, record: Record) -> None:
        """Its result was used, or given up: from now on it is only evidence."""
        folder = self.attempt_folder(record.atom, record.attempt)
        with self._noting(), self._writing(folder), contextlib.suppress(FileNotFoundError):
            name = RECORD if os.path.lexists(folder / RECORD) or os.path.lexists(folder / USED) else METER
            os.replace(f"{folder}/{name}", f"{folder}/{USED}")  # noqa: PTH105 - as above
            if self._retention is not None:
                self._retention.add(folder.name)
            os.unlink(f"{folder}/{CODES}")  # noqa: PTH108 - as above

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
        for number in self._numbers(atom):
            record = self._ended(self.attempt_folder(atom, number))
            if record is not None and record.role == "worker" and record.report is not None:
                key = (record.atom, record.attempt, record.run_id)
                return record.kept if key == (atom, number, run_id) else None
        return None

    def last_work(self, name: str, run_id: str, epoch: int) -> Work | None:
        """The work of the last task with this name that left some; None: none did. It may not be on the branch."""
        for number in self._numbers(name):
            record = self._ended(self.attempt_folder(name, number))
            key = (record.atom, record.attempt, record.run_id, record.epoch) if record is not None else None
            work = record.work if record is not None and key == (name, number, run_id, epoch) else None
            if work is not None and work.commit is not None:
                return work
        return None

    def _numbers(self, name: str) -> list[int]:
        """The numbers of attempts at this task, the latest first."""
        prefix = name_of(name, "")
        numbers = [found.removeprefix(prefix) for found in self._names() if found.startswith(prefix)]
        return sorted(filter(None, map(number_in, numbers)), reverse=True)

    def last_attempt(self) -> int:
        """The highest number that any attempt had; 0: there was none."""
        return max((number_in(name.rpartition("-")[2]) for name in self._names()), default=0)

    def _all(self) -> Iterator[Record]:
        found = (self._record(self.folder / "attempts" / name) for name in self._names())
        yield from (record for record in found if record is not None)

    def _record(self, folder: Path) -> Record | None:
        """Without our code, it counts only for what the repository proves."""
        with contextlib.suppress(OSError, msgspec.MsgspecError, RecursionError):
            is_over = os.path.lexists(folder / RECORD) or os.path.lexists(folder / USED)
            content = read_foreign(folder / (RECORD if is_over else METER), _MOST_OF_A_RECORD)
            record = msgspec.json.decode(content, type=Record)
            if name_of(record.atom, record.attempt) == folder.name:
                is_ours = any(is_sealed(_purpose(folder), content, code) for code in _codes(folder))
                return record if is_ours else doubted(record)
        return None

    def _ended(self, folder: Path) -> Record | None:
        """The record of an ended attempt, used or not. A start that it names is compared with the repository."""
        for name in (RECORD, USED):
            with contextlib.suppress(OSError, msgspec.MsgspecError, RecursionError):
                return msgspec.json.decode(read_foreign(folder / name, _MOST_OF_A_RECORD), type=Record)
        return None

    def _names(self) -> list[str]:
        with contextlib.suppress(OSError):
            return os.listdir(self.folder / "attempts")  # noqa: PTH208 - names are enough
        return []

    @contextlib.contextmanager
    def _writing(self, folder: Path) -> Iterator[None]:
        """Noted twice: who compares files knows it by the first note, and by the second one if it began in between."""
        self.written.append(folder.name)
        try:
            yield
        finally:
            self.written.append(folder.name)

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.problem = self.problem or f"the journal in {FOLDER} is not complete: {error.strerror}"
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON cannot hold
            self.problem = self.problem or f"the journal in {FOLDER} is not complete: something was no valid text"


def _purpose(folder: Path) -> str:
    return f"record of {os.path.realpath(folder)}"


def _codes(folder: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return read_foreign(folder / CODES, 1000).decode("ascii", "replace").split()
    return []


def _ends_a_line(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return not size or os.pread(descriptor, 1, size - 1) == b"\n"
