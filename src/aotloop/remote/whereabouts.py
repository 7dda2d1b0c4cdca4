"""Where an attempt is: `remote.json` in its folder, from before its start until its result is on disk here.

A later run finds by it what is still wanted; people see by it on which machine an attempt runs, and what it says.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

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
    is_adopted: bool = False
    """Folders of attempts of earlier runs have the same activity."""

    @property
    def words(self) -> str:
        if not self.host:
            return f"waiting for a worker of the queue {self.queue}"
        cost = f", {self.cost_usd:.2f} USD so far" if self.cost_usd else ""
        return f"{self.phase} on {self.host}{cost}"


def note(folder: Path, found: Whereabouts) -> None:
    with suppress(OSError):  # it is for people, and for adoption: without it the attempt is made again
        folder.mkdir(parents=True, exist_ok=True)
        write_new(folder / f".{FILE}", msgspec.json.encode(found))
        os.replace(folder / f".{FILE}", folder / FILE)  # noqa: PTH105 - as everywhere in this folder


def forget(folder: Path) -> None:
    found = whereabouts(folder)
    with suppress(OSError):
        (folder / FILE).unlink()
    if found is not None and found.is_adopted:
        forget_activity(folder.parent, found.id)


def forget_activity(attempts: Path, activity: str) -> None:
    for name in folders_of(attempts, activity):
        with suppress(OSError):
            (attempts / name / FILE).unlink()


def whereabouts(folder: Path) -> Whereabouts | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(read_foreign(folder / FILE, _LARGEST), type=Whereabouts)
    return None


def all_whereabouts(attempts: Path) -> dict[str, Whereabouts]:
    """By the name of the attempt's folder."""
    found: dict[str, Whereabouts] = {}
    with suppress(OSError):
        for folder in sorted(attempts.iterdir()):
            if (place := whereabouts(folder)) is not None:
                found[folder.name] = place
    return found


def folders_of(attempts: Path, activity: str) -> list[str]:
    """The names of the folders of attempts that are or were this activity."""
    return [name for name, place in all_whereabouts(attempts).items() if place.id == activity]
