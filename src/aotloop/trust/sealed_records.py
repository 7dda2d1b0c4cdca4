"""Records of what a person decided: JSON with an authentication code, each bound to its own place.

A record without a valid code counts as missing. Records of versions that knew no codes are sealed once, when the key is
made.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.foreign_files import read_foreign
from aotloop.trust import seal
from aotloop.trust.folder import data_folder, keep, not_kept

_CODE = "code"
_MOST_BYTES = 20_000_000
_KINDS = ("trusted", "confirmed", "objectives", "spoken", "judged", "voted")


def keep_sealed(record: Path, content: bytes, what: str) -> None:
    """`content`: a JSON object. Raises Unavailable."""
    if not seal.is_there():
        _adopt()
    try:
        sealed = _sealed(record, content)
    except OSError as error:
        raise not_kept(record, what, error) from error
    keep(record, sealed, what)


def sealed_content(record: Path) -> bytes:
    """The JSON object. Raises OSError if there is none, or if its code is wrong."""
    content = read_foreign(record, _MOST_BYTES)
    if not seal.is_there():  # nothing was written by this version yet
        return content
    with suppress(msgspec.MsgspecError, TypeError):
        fields = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        code = msgspec.json.decode(fields.pop(_CODE, msgspec.Raw(b'""')), type=str)
        if seal.is_sealed(_place(record), _plain(fields), code):
            return content
    raise FileNotFoundError(f"{record} is not a record of ours")


def is_forged(record: Path) -> bool:
    """Whether a file is there that aotloop did not write for this user."""
    try:
        sealed_content(record)
    except OSError:
        return os.path.lexists(record)
    return False


def _sealed(record: Path, content: bytes) -> bytes:
    fields = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    fields.pop(_CODE, None)
    code = seal.code_for(_place(record), _plain(fields))
    whole = msgspec.json.encode({**fields, _CODE: code})
    return msgspec.json.format(whole, indent=2) + b"\n"


def _plain(fields: dict[str, msgspec.Raw]) -> bytes:
    """The same for every way to write the same values."""
    return b"\0".join(
        b"%b:%b" % (msgspec.json.encode(key), msgspec.json.format(fields[key], indent=-1)) for key in sorted(fields)
    )


def _place(record: Path) -> str:
    """Where it lies, from the data folder: a record that was copied to another place counts for nothing there."""
    return f"{record.parent.name}/{record.name}"


def _adopt() -> None:
    for kind in _KINDS:
        with suppress(OSError, Unavailable):
            for record in data_folder(kind).iterdir():
                with suppress(OSError, msgspec.MsgspecError, TypeError):
                    keep(record, _sealed(record, read_foreign(record, _MOST_BYTES)), "what you decided")
