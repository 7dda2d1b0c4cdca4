"""The description of a fence: which places are open, closed and hidden, and which part of the network is reachable.

Every engine enforces this: nothing that is closed can be changed, by any path and by any child; only open places,
the client's own state and temporary folders can be changed; secrets are not readable.
"""

from __future__ import annotations

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
    closed: tuple[str, ...] = ()
    """Further places that stay closed, also in temporary folders. Absolute paths, here and below."""
    hidden: tuple[str, ...] = ()
    """Further secrets."""
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


def is_at_or_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
