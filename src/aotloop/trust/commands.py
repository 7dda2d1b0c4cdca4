"""Commands of a state file are run only after this user has accepted them, for this file and in these words.

What was accepted is kept as one small file for each set of commands, named by its digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, keep, written_path


def is_trusted(state_file: str, commands: Sequence[str]) -> bool:
    """What cannot be looked up was not accepted."""
    if not commands:
        return True
    try:
        return _record(state_file, commands).is_file()
    except (OSError, Unavailable):
        return False


def trust(state_file: str, commands: Sequence[str]) -> None:
    if commands:
        content = msgspec.json.format(_content(state_file, commands), indent=2) + b"\n"
        keep(_record(state_file, commands), content, "that you accepted these commands")


def digest_of(state_file: str, commands: Sequence[str]) -> str:
    """By which a person can say which commands are meant."""
    return sha256(_content(state_file, commands)).hexdigest()[:12]


def _record(state_file: str, commands: Sequence[str]) -> Path:
    return data_folder("trusted") / (sha256(_content(state_file, commands)).hexdigest()[:32] + ".json")


def _content(state_file: str, commands: Sequence[str]) -> bytes:
    return msgspec.json.encode({"state_file": written_path(state_file), "commands": list(commands)})
