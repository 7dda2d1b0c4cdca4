"""Events of folders, told by the kernel (inotify): what was made, changed, moved or removed there, even for a moment.

Two looks at a file do not show that it was exchanged in between and put back. Only Linux tells; elsewhere nothing does.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

_MODIFY, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _OVERFLOW = 0x400, 0x800, 0x4000
_ONLY_FOLDERS, _NO_LINKS = 0x01000000, 0x02000000
_MASK = _MODIFY | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS | _NO_LINKS
_NEW = _CREATE | _MOVED_TO
_SELF = _DELETE_SELF | _MOVE_SELF
_HEADER = struct.Struct("iIII")
_AT_ONCE = 1 << 16


class FolderEvent(msgspec.Struct, frozen=True):
    path: str
    """From the top; empty: so much happened that some of it was not told."""
    is_new: bool
    """An entry of this name was made, or moved there."""


class FolderEvents:
    """Listens from the moment it is made until it is closed."""

    def __init__(self, top: Path, folders: Iterable[str], on_event: Callable[[FolderEvent], None]) -> None:
        """`folders`: from the top. `on_event`: called in a thread of its own. Raises OSError where nothing is told."""
        self._on_event = on_event
        self._names: dict[int, str] = {}
        self._events = _opened()
        self._stop, self._stopped = os.pipe()
        try:
            for folder in folders:
                self._names[_watched(self._events, top / folder)] = folder
        except OSError:
            self._close()
            raise
        self._thread = threading.Thread(target=self._listen, name="folder events", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Everything that has happened before is told when it returns."""
        os.write(self._stopped, b".")
        self._thread.join()
        self._close()

    def _listen(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._stop in select.select([self._events, self._stop], [], [])[0]
            with suppress(BlockingIOError):
                while data := os.read(self._events, _AT_ONCE):
                    self._tell(data)

    def _tell(self, data: bytes) -> None:
        place = 0
        while place < len(data):
            watch, mask, _, length = _HEADER.unpack_from(data, place)
            place += _HEADER.size
            name = os.fsdecode(data[place : place + length].rstrip(b"\0"))
            place += length
            folder = self._names.get(watch, "")
            if mask & _OVERFLOW:
                self._on_event(FolderEvent("", is_new=False))
            elif name:
                self._on_event(FolderEvent(f"{folder}/{name}" if folder else name, is_new=bool(mask & _NEW)))
            elif mask & _SELF and folder:
                self._on_event(FolderEvent(folder, is_new=False))

    def _close(self) -> None:
        for descriptor in (self._events, self._stop, self._stopped):
            os.close(descriptor)


def _opened() -> int:
    if sys.platform != "linux":
        raise OSError(0, "no events of folders are told here")
    import ctypes  # noqa: PLC0415 - most processes do not need it

    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return descriptor


def _watched(events: int, folder: Path) -> int:
    import ctypes  # noqa: PLC0415 - as above

    libc = ctypes.CDLL(None, use_errno=True)
    watch: int = libc.inotify_add_watch(events, os.fsencode(folder), _MASK)
    if watch < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
    return watch
