"""The description of a fence: which places are open, closed and hidden, and which part of the network is reachable.

Every engine enforces at least this: nothing that is closed can be changed, by any path and by any child. Engines with a
file system of their own (bubblewrap, srt) enforce more: only open places can be changed, and secrets are not readable.
Landlock can only permit. So everything beside the path to a closed folder is permitted: all entries of each folder on
that path, except the entry that leads on. As a consequence, no new entries can be made in those folders themselves.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, get_args

import msgspec

Choice = Literal["auto", "bwrap", "srt", "landlock", "off"]
CHOICES: tuple[str, ...] = get_args(Choice)

Network = tuple[str, ...] | Literal["all", "none"]
"""Hosts that can be reached; `all`: no limit."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decided about every fence of a run."""

    engine: Choice = "auto"
    network: Network = "all"
    writable: tuple[str, ...] = ()
    """Further places that stay writable: absolute paths, or paths that begin with `~/`."""
    holds_commands: bool = True
    """Whether commands of atoms, and set-up, run behind it, too."""


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    closed: tuple[Path, ...]
    """Folders in which nothing can be changed."""
    open: tuple[Path, ...] = ()
    """Places inside them that may be changed. They exist before anything is started."""
    client: str | None = None
    """The client that runs behind the fence: its own state is open, and its login is not hidden."""
    policy: Policy = Policy()

    def opened(self, *more: Path) -> Confinement:
        return msgspec.structs.replace(self, open=(*self.open, *more))

    def under(self, policy: Policy) -> Confinement:
        return msgspec.structs.replace(self, policy=policy)

    def for_client(self, client: str | None) -> Confinement:
        return msgspec.structs.replace(self, client=client)

    def lets_make_in(self, folder: str) -> bool:
        """Whether new entries can be made in it with every engine: it is open, or beside the path to what is closed."""
        real = os.path.realpath(folder)
        if any(is_at_or_in(real, os.path.realpath(place)) for place in self.open):
            return True
        closed = [os.path.realpath(place) for place in self.closed]
        return not any(is_at_or_in(real, place) or is_at_or_in(place, real) for place in closed)


def permitted(confinement: Confinement, more_closed: Iterable[str] = ()) -> Iterator[str]:
    """All real paths that may be changed. A path inside another one is not listed again."""
    closed = [*(os.path.realpath(path) for path in confinement.closed), *more_closed]
    yield from _beside("/", closed)
    yield from (os.path.realpath(path) for path in confinement.open)


def is_at_or_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _beside(folder: str, closed: Iterable[str]) -> Iterator[str]:
    within = [path for path in closed if path != folder and is_at_or_in(path, folder)]
    ahead = {path.removeprefix(folder).lstrip("/").partition("/")[0] for path in within}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # a folder that cannot be listed is not permitted
        for entry in entries:
            if entry.name not in ahead:
                if not entry.is_symlink():  # its target has its own rule
                    yield entry.path
            elif entry.path not in closed:
                yield from _beside(entry.path, within)
