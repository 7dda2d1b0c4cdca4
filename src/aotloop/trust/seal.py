"""Authentication codes: a record counts only if this user's aotloop wrote it, for this purpose.

The key is in the user's data folder, which is closed to everything below a run. Only this module reads the key.
"""

from __future__ import annotations

import hmac
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from aotloop.errors import Unavailable, writing
from aotloop.foreign_files import read_foreign
from aotloop.trust.folder import data_folder

_NAME = "key"
_LENGTH = 32


def code_for(purpose: str, content: bytes) -> str:
    """Makes the key if there is none. Raises OSError, and Unavailable without a home."""
    return _code(_key(), purpose, content)


def is_sealed(purpose: str, content: bytes, code: str) -> bool:
    """A key that cannot be read seals nothing."""
    with suppress(OSError, Unavailable):
        key = read_foreign(_file(), _LENGTH)
        return len(key) == _LENGTH and hmac.compare_digest(_code(key, purpose, content), code)
    return False


def is_there() -> bool:
    """Whether anything was ever sealed here."""
    with suppress(OSError, Unavailable):
        return len(read_foreign(_file(), _LENGTH)) == _LENGTH
    return False


def _file() -> Path:
    return data_folder("private") / _NAME


def _code(key: bytes, purpose: str, content: bytes) -> str:
    message = sha256(purpose.encode("utf-8", "surrogatepass")).digest() + content
    return hmac.new(key, message, sha256).hexdigest()


def _key() -> bytes:
    file = _file()
    with suppress(FileNotFoundError):
        key = read_foreign(file, _LENGTH)
        if len(key) == _LENGTH:
            return key
        file.unlink(missing_ok=True)  # half a key seals nothing
    return _made(file)


def _made(file: Path) -> bytes:
    """Whole or not at all, and the first one counts: another process may make it at the same time."""
    import secrets  # noqa: PLC0415 - a key is made once for a user

    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft, key = file.with_name(f".{_NAME}.{secrets.token_hex(8)}"), secrets.token_bytes(_LENGTH)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with writing(file):
            os.write(descriptor, key)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()
    return read_foreign(file, _LENGTH)
