"""Reads a small file that others may have replaced by anything: a link, a pipe, a device, an endless file."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_plain(path: Path, most: int, *, follows: bool = False) -> bytes:
    """Its content; empty if there is none, it is no regular file, or it has more than `most` bytes. Never waits."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return b""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return b""
        chunks = []
        while chunk := os.read(descriptor, most + 1):
            chunks.append(chunk)
            if sum(map(len, chunks)) > most:
                return b""
        return b"".join(chunks)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
