"""The paths that Landlock permits: what can be changed, and what can be read.

Landlock can only permit. What can be changed is short: the places that are open, the client's own state, temporary
folders and a few devices. Everything can be read, except secrets: all entries beside the path to a secret are
permitted. As a consequence, a file that appears later in a folder on such a path cannot be read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from aotloop.process.sandbox.fence import Confinement, is_at_or_in
from aotloop.process.sandbox.home_folders import ours, worktrees
from aotloop.process.sandbox.resolved_fence import ResolvedFence, resolved

_MEMORY = frozenset({"mem", "kmem", "port", "kmsg"})
TO_CHANGE, TO_READ = "w", "r"
"""The first character of a rule; the path follows."""

_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - nothing is made there
_DEVICES = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
    *("/dev/tty", "/dev/ptmx", "/dev/pts"),
)


def permitted(confinement: Confinement, env: Mapping[str, str], cwd: Path | None) -> Iterator[str]:
    """All rules. A path inside another one of the same kind is not listed again."""
    fence = resolved(confinement, env, cwd)
    yield from (f"{TO_CHANGE}{path}" for path in dict.fromkeys(_changeable(fence, env)))
    yield from (f"{TO_READ}{path}" for path in _beside("/", (*fence.hidden, *_disks())))


def _disks() -> Iterator[str]:
    """Of the root user: all files of the machine, and its memory."""
    with contextlib.suppress(OSError), os.scandir("/dev") as entries:
        for entry in entries:
            if entry.name in _MEMORY or stat.S_ISBLK(entry.stat(follow_symlinks=False).st_mode):
                yield entry.path


def _changeable(fence: ResolvedFence, env: Mapping[str, str]) -> Iterator[str]:
    closed = [*fence.closed, *ours(env)]
    yield from (path for path in fence.open if path != fence.here)
    own = (fence.here,) if fence.here in fence.open else ()  # else it lies in what is open or closed
    for folder in (*own, *map(os.path.realpath, _TEMPORARY)):
        if not any(is_at_or_in(folder, path) for path in closed):
            apart = () if folder == fence.here else (*worktrees(env), *fence.hidden)
            yield from _beside(folder, [*closed, *apart])
        elif folder in fence.open:
            yield folder
    yield from _DEVICES


def _beside(folder: str, closed: Iterable[str]) -> Iterator[str]:
    """The folder, if nothing in it is closed; otherwise all entries beside the path to what is closed."""
    within = [path for path in closed if path != folder and is_at_or_in(path, folder)]
    if not within and folder != "/":
        yield folder
        return
    ahead = {path.removeprefix(folder).lstrip("/").partition("/")[0] for path in within}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # a folder that cannot be listed is not permitted
        for entry in entries:
            if entry.name not in ahead:
                if not entry.is_symlink():  # its target has its own rule
                    yield entry.path
            elif entry.path not in within:
                yield from _beside(entry.path, within)
