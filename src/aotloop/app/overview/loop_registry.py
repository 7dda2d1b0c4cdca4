"""The registry: every loop and feature that was driven on this machine, one small record each, in the data folder.

A record names a file and nothing else: what a loop is now, only its own file says. Records are written whole, so
several processes can register at once. What is not a record of ours is ignored.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from aotloop.clock import now
from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, keep, record_of, written_path

FOLDER = "loops"
MOST = 1000
"""Records. The oldest ones are deleted when there are more."""
_LARGEST = 64 << 10

Kind = Literal["loop", "feature"]


class KnownLoop(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    state_file: str
    """As it is shown. Bytes that are no text are escapes."""
    last_driven: str
    raw: str | None = None
    """The name of the file in hexadecimal digits, if it is not text."""

    @property
    def key(self) -> str:
        """Its name in the address of a page."""
        return record_of(FOLDER, self.path).stem

    @property
    def path(self) -> str:
        return os.fsdecode(bytes.fromhex(self.raw)) if self.raw is not None else self.state_file


def register(state_file: str, kind: Kind = "loop") -> None:
    """A home that cannot be written to costs the row in the list, and nothing else."""
    path = os.path.realpath(state_file)
    shown = written_path(path)
    raw = os.fsencode(path).hex() if shown != path else None
    known = KnownLoop(kind=kind, state_file=shown, last_driven=now(), raw=raw)
    with suppress(Unavailable):
        record = record_of(FOLDER, path)
        keep(record, msgspec.json.format(msgspec.json.encode(known), indent=2) + b"\n", "this loop")
        _prune(record.parent)


def page_address(server: str, state_file: str, kind: Kind = "loop") -> str:
    """Of the page about this loop or feature, on a server of pages."""
    return f"{server.rstrip('/')}/{kind}/{record_of(FOLDER, os.path.realpath(state_file)).stem}"


def registered() -> list[KnownLoop]:
    """Those whose files are still there; the last driven one first."""
    found = [known for record in _records() if (known := _read(record)) is not None]
    present = [known for known in found if _is_file(known.path)]
    return sorted(present, key=lambda known: known.last_driven, reverse=True)


def known_loop(key: str) -> KnownLoop | None:
    """By the name in an address. Do not trust it: any page can contain an address."""
    if not (key.isascii() and key.isalnum()):
        return None
    with suppress(Unavailable):
        known = _read(data_folder(FOLDER) / f"{key}.json")
        return known if known is not None and known.key == key and _is_file(known.path) else None
    return None


def _is_file(path: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(path).is_file()
    return False


def _records() -> list[Path]:
    with suppress(OSError, Unavailable):
        return [path for path in data_folder(FOLDER).iterdir() if path.suffix == ".json"]
    return []


def _read(record: Path) -> KnownLoop | None:
    """None: it is not a record, or it vanished meanwhile."""
    with suppress(OSError, ValueError, msgspec.MsgspecError, RecursionError):
        descriptor = os.open(record, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                known = msgspec.json.decode(file.read(_LARGEST), type=KnownLoop)
                return known if known.path.startswith("/") and "\0" not in known.path else None
    return None


def _prune(folder: Path) -> None:
    with suppress(OSError):
        records = [path for path in folder.iterdir() if path.suffix == ".json"]
        if len(records) > MOST:
            for old in sorted(records, key=_age)[: len(records) - MOST]:
                old.unlink(missing_ok=True)


def _age(record: Path) -> float:
    try:
        return record.lstat().st_mtime
    except OSError:  # another process prunes as well
        return 0.0
