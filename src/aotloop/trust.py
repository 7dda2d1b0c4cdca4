"""Commands of a state file are run only after this user has accepted them, for this file and in these words.

What was accepted is kept as one small file for each set of commands, named by its digest, in the user's data folder:
out of reach of the repository the state file came with.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable


def is_trusted(state_file: str, commands: Sequence[str]) -> bool:
    """What cannot be looked up was not accepted."""
    if not commands:
        return True
    try:
        return _record(state_file, commands).is_file()
    except (OSError, Unavailable):
        return False


def trust(state_file: str, commands: Sequence[str]) -> None:
    if not commands:
        return
    record = _record(state_file, commands)
    try:
        record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        record.write_bytes(msgspec.json.format(_content(state_file, commands), indent=2) + b"\n")
    except OSError as error:
        raise Unavailable(
            f"it cannot be remembered that you accepted these commands: {record.parent}: {error.strerror}",
            hint="Set XDG_DATA_HOME to a folder that you may write to.",
        ) from error


def _record(state_file: str, commands: Sequence[str]) -> Path:
    return _folder() / (sha256(_content(state_file, commands)).hexdigest()[:32] + ".json")


def _content(state_file: str, commands: Sequence[str]) -> bytes:
    """A path need not be valid UTF-8; its other bytes are written as escapes."""
    path = os.fsencode(os.path.realpath(state_file)).decode("utf-8", "backslashreplace")
    return msgspec.json.encode({"state_file": path, "commands": list(commands)})


def _folder() -> Path:
    """Only absolute paths count: a relative one would be in the repository."""
    data, home = os.environ.get("XDG_DATA_HOME", ""), os.path.expanduser("~")  # noqa: PTH111 - never raises
    for folder in (Path(data), Path(home, ".local", "share")):
        if folder.is_absolute():
            return folder / "aotloop" / "trusted"
    raise Unavailable("you have no home folder", hint="Set HOME, or XDG_DATA_HOME, to an absolute path.")
