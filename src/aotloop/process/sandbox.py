"""The sandbox of a confined process: the kernel refuses changes of closed folders, by any path and by any child.

Landlock can only permit. So everything beside the path to a closed folder is permitted: all entries of each folder on
that path, except the entry that leads on. As a consequence, no new entries can be made in those folders themselves.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from aotloop.errors import Unavailable

T = TypeVar("T")


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    closed: tuple[Path, ...]
    """Folders in which nothing can be changed."""
    open: tuple[Path, ...] = ()
    """Places inside them that may be changed. They exist before anything is started."""

    def opened(self, *more: Path) -> Confinement:
        return msgspec.structs.replace(self, open=(*self.open, *more))

    def lets_make_in(self, folder: str) -> bool:
        """Whether new entries can be made in it: it is not closed, and not on the path to a closed folder."""
        real = os.path.realpath(folder)
        if any(_is_at_or_in(real, os.path.realpath(place)) for place in self.open):
            return True
        closed = [os.path.realpath(place) for place in self.closed]
        return not any(_is_at_or_in(real, place) or _is_at_or_in(place, real) for place in closed)


def is_possible() -> bool:
    """Whether this machine can confine processes."""
    from aotloop.process import landlock  # noqa: PLC0415 - it loads ctypes, which processes without rules do not need

    return landlock.is_there()


def confined(confinement: Confinement | None, start: Callable[[], T]) -> T:
    """The result of `start`. It is called under the rules, so they hold for every process that it starts.

    Raises Unavailable, and the errors of `start`.
    """
    if confinement is None or not is_possible():
        return start()
    paths = list(permitted(confinement))
    outcome: list[T] = []
    fault: list[BaseException] = []

    def apart() -> None:
        try:
            _give_up_writing(paths)
            outcome.append(start())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            fault.append(error)

    thread = threading.Thread(target=apart, name="aot-confined")
    thread.start()
    thread.join()
    if fault:
        raise fault[0]
    return outcome[0]


def _give_up_writing(except_below: list[str]) -> None:
    from aotloop.process import landlock  # noqa: PLC0415 - see is_possible

    try:
        landlock.give_up_writing(except_below)
    except OSError as error:
        raise Unavailable(
            f"the kernel does not confine an agent: {error.strerror}",
            hint='confine = "off" in aot.toml switches this off.',
        ) from error


def permitted(confinement: Confinement) -> Iterator[str]:
    """All real paths that may be changed. A path inside another one is not listed again."""
    closed = [os.path.realpath(path) for path in confinement.closed]
    yield from _beside("/", closed)
    yield from (os.path.realpath(path) for path in confinement.open)


def _is_at_or_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _beside(folder: str, closed: Iterable[str]) -> Iterator[str]:
    within = [path for path in closed if path != folder and _is_at_or_in(path, folder)]
    ahead = {path.removeprefix(folder).lstrip("/").partition("/")[0] for path in within}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # a folder that cannot be listed is not permitted
        for entry in entries:
            if entry.name not in ahead:
                if not entry.is_symlink():  # its target has its own rule
                    yield entry.path
            elif entry.path not in closed:
                yield from _beside(entry.path, within)
