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


def is_trusted(state_file: str, commands: Sequence[str]) -> bool:
    return not commands or _record(state_file, commands).exists()


def trust(state_file: str, commands: Sequence[str]) -> None:
    record = _record(state_file, commands)
    record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    record.write_bytes(msgspec.json.format(_content(state_file, commands), indent=2) + b"\n")


def _record(state_file: str, commands: Sequence[str]) -> Path:
    return _folder() / (sha256(_content(state_file, commands)).hexdigest()[:32] + ".json")


def _content(state_file: str, commands: Sequence[str]) -> bytes:
    return msgspec.json.encode({"state_file": os.path.realpath(state_file), "commands": list(commands)})


def _folder() -> Path:
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "aotloop" / "trusted"
