"""The redo log of a state file: updates that are on disk, but not yet in the file.

It lies beside the file, with the same owner and mode, and is closed to the same agents. Its first record is the digest
of the file to which the other records belong: with any other content of the file, it counts for nothing. So a person's
save wins, and a log that was left behind does no harm. Every record is a list of splices. A record that is torn, and
all that stands behind it, is left out: no process was told that it is written.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256

import msgspec

from aotloop.flock import is_still
from aotloop.foreign_files import read_foreign, write_new
from aotloop.statefile import durable
from aotloop.statefile.splices import Splice, splice_in

MOST_BYTES = 64 << 20
"""A longer log is not read. Ours are settled long before."""

_FRAME = 8
"""Bytes before a record: its length and its checksum, which covers all records before it as well."""

_encoder = msgspec.msgpack.Encoder()


_splices = msgspec.msgpack.Decoder(list[Splice])


def log_file(state_file: str) -> str:
    return durable.beside(state_file, "log")


def content_with_log(state_file: str, content: bytes) -> bytes | None:
    """The content with all logged updates; None: there is no log of this content."""
    log = b""
    with suppress(OSError):
        log = read_foreign(log_file(state_file), MOST_BYTES)
    records = _records(log)
    digest = next(records, None)
    if digest is None or digest != sha256(content).digest():
        return None
    text = bytearray(content)
    try:
        for record in records:
            splice_in(text, _splices.decode(record))
    except ValueError:  # no log of ours
        return None
    return bytes(text)


def _records(log: bytes) -> Iterator[bytes]:
    place, checksum = 0, 0
    while len(frame := log[place : place + _FRAME]) == _FRAME:
        length = int.from_bytes(frame[:4], "big")
        record = log[place + _FRAME : place + _FRAME + length]
        checksum = zlib.crc32(record, checksum)
        if len(record) < length or checksum != int.from_bytes(frame[4:], "big"):
            return
        yield record
        place += _FRAME + length


class RedoLog:
    """The log of the process that runs the loop. All methods are called under the lock; they raise OSError."""

    def __init__(self, state_file: str) -> None:
        self._state_file = state_file
        self._path = log_file(state_file)
        self._descriptor: int | None = None
        self.size = 0
        """Bytes; 0: there is no record since the last time the file had everything."""
        self._checksum = 0

    def append(self, splices: list[Splice], content: bytes) -> None:
        """On disk when it returns. `content`: what the file has now."""
        if self.size and not self._is_there():
            raise FileNotFoundError(self._path)  # a new one would lack the records before
        checksum, data = self._checksum, b""
        if not self.size:
            checksum, data = _framed(sha256(content).digest(), 0)
        checksum, record = _framed(_encoder.encode(splices), checksum)
        data += record
        descriptor, before = self._open(), self.size
        try:
            self._write(descriptor, data)
            os.fdatasync(descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, before)
            raise
        self.size += len(data)
        self._checksum = checksum

    def clear(self) -> None:
        """The file has everything. After a crash before this, the digest says so."""
        self.size = self._checksum = 0
        if self._descriptor is not None and self._is_there():
            os.ftruncate(self._descriptor, 0)
        else:
            self._let_go()

    def close(self) -> None:
        if self._is_there():
            durable.discard_log(self._state_file)
        self._let_go()

    def _is_there(self) -> bool:
        return self._descriptor is not None and is_still(self._path, self._descriptor)

    def _open(self) -> int:
        if self._descriptor is None or not self._is_there():
            self._let_go()
            write_new(self._path, b"", durable.mode_of(self._state_file))
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
            durable.sync_folder(os.path.dirname(self._path))
        return self._descriptor

    def _let_go(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @staticmethod
    def _write(descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def _framed(record: bytes, checksum: int) -> tuple[int, bytes]:
    checksum = zlib.crc32(record, checksum)
    return checksum, len(record).to_bytes(4, "big") + checksum.to_bytes(4, "big") + record
