"""Where an attempt is: `remote.json` in its folder, from before its start until its result is on disk here.

A later run finds by it what is still wanted; people see by it on which machine an attempt runs, and what it says.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.execution.journal import RECORD, USED
from aotloop.foreign_files import read_foreign, write_new

FILE = "remote.json"
_LARGEST = 100_000


class Whereabouts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    """Of the activity."""
    queue: str
    host: str = ""
    """Empty: no worker has it yet."""
    phase: str = "waiting"
    line: str = ""
    cost_usd: float | None = None

    @property
    def words(self) -> str:
        return f"{self.phase} on {self.host}" if self.host else f"waiting for a worker of the queue {self.queue}"


def note(folder: Path, found: Whereabouts) -> None:
    with suppress(OSError):  # it is for people, and for adoption: without it the attempt is made again
        folder.mkdir(parents=True, exist_ok=True)
        write_new(folder / f".{FILE}", msgspec.json.encode(found))
        os.replace(folder / f".{FILE}", folder / FILE)  # noqa: PTH105 - as everywhere in this folder


def forget(folder: Path) -> None:
    with suppress(OSError):
        (folder / FILE).unlink()


def whereabouts(folder: Path) -> Whereabouts | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(read_foreign(folder / FILE, _LARGEST), type=Whereabouts)
    return None


def all_whereabouts(attempts: Path) -> dict[str, Whereabouts]:
    """By the name of the attempt's folder."""
    found: dict[str, Whereabouts] = {}
    with suppress(OSError):
        for folder in sorted(attempts.iterdir()):
            if (one := whereabouts(folder)) is not None:
                found[folder.name] = one
    return found


def still_wanted(attempts: Path) -> list[Whereabouts]:
    """Attempts that a runner that died had sent, and whose results are not on disk here."""
    return [
        one
        for name, one in all_whereabouts(attempts).items()
        if not any((attempts / name / file).exists() for file in (RECORD, USED))
    ]
