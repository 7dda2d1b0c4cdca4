"""What an agent may not change, the kernel does not let it change: whatever it starts, and by whatever path.

Landlock permits and does not forbid. So everything is permitted that lies beside the way to what is closed: all entries
of each folder on that way, but the one that leads on. The price: nothing new can be made in those folders themselves.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from aotloop.agents import landlock
from aotloop.errors import Unavailable

T = TypeVar("T")


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    closed: tuple[Path, ...]
    """Folders in which nothing is changed."""
    open: tuple[Path, ...] = ()
    """Places in them which may be changed nevertheless. They are there before anything is started."""

    def opened(self, *more: Path) -> Confinement:
        return msgspec.structs.replace(self, open=(*self.open, *more))

    def lets_make_in(self, folder: str) -> bool:
        """Whether something new can be made in it: it is not closed, and not on the way to what is."""
        real = os.path.realpath(folder)
        if any(_is_at_or_in(real, os.path.realpath(one)) for one in self.open):
            return True
        closed = [os.path.realpath(one) for one in self.closed]
        return not any(_is_at_or_in(real, one) or _is_at_or_in(one, real) for one in closed)


def is_possible() -> bool:
    return landlock.is_there()


def confined(confinement: Confinement | None, start: Callable[[], T]) -> T:
    """What `start` returns; it is called where the rules hold, and so they hold for every process it makes.

    Raises Unavailable, and whatever `start` raises.
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
    try:
        landlock.give_up_writing(except_below)
    except OSError as error:
        raise Unavailable(
            f"the kernel does not confine an agent: {error.strerror}", hint='confine = "off" in aot.toml does without.'
        ) from error


def permitted(confinement: Confinement) -> Iterator[str]:
    """All that may be changed, as real paths; what lies in one of them is not listed again."""
    closed = [os.path.realpath(path) for path in confinement.closed]
    yield from _beside("/", closed)
    yield from (os.path.realpath(path) for path in confinement.open)


def _is_at_or_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _beside(folder: str, closed: Iterable[str]) -> Iterator[str]:
    within = [one for one in closed if one != folder and _is_at_or_in(one, folder)]
    ahead = {one.removeprefix(folder).lstrip("/").partition("/")[0] for one in within}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # what cannot be listed is not permitted
        for entry in entries:
            if entry.name not in ahead:
                if not entry.is_symlink():  # where it leads to is permitted there, or not
                    yield entry.path
            elif entry.path not in closed:
                yield from _beside(entry.path, within)
