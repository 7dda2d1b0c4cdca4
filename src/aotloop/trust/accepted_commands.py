"""Accepted commands: commands of a state file run only after this user accepted exactly these words for this file.

Each accepted set of commands is one small file, named by its digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, written_path
from aotloop.trust.sealed_records import keep_sealed, sealed_content


class _Accepted(msgspec.Struct, frozen=True):
    state_file: str
    commands: list[str]


def is_trusted(state_file: str, commands: Sequence[str]) -> bool:
    """A record that cannot be read counts as not accepted."""
    if not commands:
        return True
    try:
        record = msgspec.json.decode(sealed_content(_record(state_file, commands)), type=_Accepted)
    except (OSError, Unavailable, msgspec.MsgspecError):
        return False
    return (record.state_file, record.commands) == (written_path(state_file), list(commands))


def trust(state_file: str, commands: Sequence[str]) -> None:
    if commands:
        keep_sealed(_record(state_file, commands), _content(state_file, commands), "that you accepted these commands")


def digest_of(state_file: str, commands: Sequence[str]) -> str:
    """The digest by which a person names a set of commands."""
    return sha256(_content(state_file, commands)).hexdigest()[:12]


def _record(state_file: str, commands: Sequence[str]) -> Path:
    return data_folder("trusted") / (sha256(_content(state_file, commands)).hexdigest()[:32] + ".json")


def _content(state_file: str, commands: Sequence[str]) -> bytes:
    return msgspec.json.encode({"state_file": written_path(state_file), "commands": list(commands)})
