"""Pipes in the person's checkout under the names of files that git reads: git would wait for them for ever.

A check, or an attempt in place, can make one. Git may not be killed while it changes files, so it is let go on: the
other end of the pipe is opened and closed, and git sees an empty file.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

NAMES = frozenset({".gitattributes", ".gitignore", ".gitmodules"})
SILENCE = 3.0
"""Seconds after which a git that still runs may be waiting."""
_PAUSE = 0.05
_MOST_ENTRIES = 3_000_000


@contextlib.contextmanager
def released(top: Path) -> Iterator[None]:
    """While open, no git waits for such a pipe below this folder for long."""
    is_over = threading.Event()
    _thread.start_new_thread(_release, (top, is_over))  # `Thread.start` waits until it runs: on a busy machine, long
    try:
        yield
    finally:
        is_over.set()


def _release(top: Path, is_over: threading.Event) -> None:
    """Git opens one after the other, and some of them again."""
    if is_over.wait(SILENCE):
        return
    pipes = list(_pipes(top, is_over))
    while pipes and not is_over.wait(_PAUSE):
        for path in pipes:
            with contextlib.suppress(OSError):  # git does not wait for this one
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))


def _pipes(top: Path, is_over: threading.Event) -> Iterator[str]:
    pending, count = [os.fspath(top)], 0
    while pending and not is_over.is_set() and count < _MOST_ENTRIES:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                count += 1
                if entry.name in NAMES and stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode):
                    yield entry.path
                elif entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
