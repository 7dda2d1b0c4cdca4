"""Votes of judges that were given while others were still asked: a process that dies does not pay for them again.

A small file for each, beside what was judged, and by the same name; they go as soon as all are in.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, keep

_FOLDER = "voted"
_MOST = 100
"""Of one key: whatever else lies there is none of ours."""


def recall(key: str) -> dict[int, bytes]:
    """What cannot be read was not given."""
    found: dict[int, bytes] = {}
    with suppress(OSError, Unavailable):
        for path in list(_folder().glob(f"{key}-*.json"))[:_MOST]:
            number = path.stem.rpartition("-")[2]
            if number.isdecimal():
                with suppress(OSError):
                    found[int(number)] = path.read_bytes()
    return found


def remember(key: str, number: int, content: bytes) -> None:
    """A home that cannot be written to costs the memory, not the vote."""
    with suppress(Unavailable):
        keep(_folder() / f"{key}-{number}.json", content, "a vote")


def forget(key: str) -> None:
    with suppress(OSError, Unavailable):
        for path in _folder().glob(f"{key}-*.json"):
            path.unlink(missing_ok=True)
        _folder().rmdir()


def _folder() -> Path:
    return data_folder(_FOLDER)
