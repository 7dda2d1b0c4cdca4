"""A fence with all its names resolved to real paths of this machine: every engine enforces the same lists."""

from __future__ import annotations

import os
from collections.abc import Mapping
from os.path import realpath
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.process.sandbox.fence import Confinement, is_at_or_in
from aotloop.process.sandbox.home_folders import (
    kept_open,
    ours,
    prepare_state,
    private_folders,
    scratch_folders,
    secrets,
    settings_of,
    state_of,
)

_DEEPEST = 100


class ResolvedFence(msgspec.Struct, frozen=True, kw_only=True):
    here: str
    """The folder in which the process starts."""
    open: tuple[str, ...]
    """Places that can be changed: those of the fence, the client's state, what the person names, and `here`, unless it
    lies in one of these.
    """
    closed: tuple[str, ...]
    settings: tuple[str, ...] = ()
    """Parts of the client's state that may not be changed. Landlock cannot close a part of a folder."""
    private: tuple[str, ...] = ()
    """Folders of the client's state that a process should have for itself, with `settings` in them."""
    hidden: tuple[str, ...]
    """Secrets, all that belongs to us, and folders of other attempts. It need not exist."""


def resolved(
    confinement: Confinement, env: Mapping[str, str], cwd: Path | None, real: RealPaths | None = None
) -> ResolvedFence:
    """Call it directly before the start: it makes the folders of the client's state, and looks at what exists now."""
    prepare_state(confinement.client, env)
    real = RealPaths() if real is None else real
    here = _start(confinement, cwd if cwd is not None else Path.cwd(), real)
    policy = confinement.policy
    closed = tuple(real(str(path)) for path in (*confinement.closed, *policy.closed))
    named = [real(os.path.expanduser(path)) for path in policy.writable]  # noqa: PTH111 - never raises
    client = confinement.client
    open_ = [*map(real, confinement.open), *state_of(client, env, real), *kept_open(client, env, here), *named]
    if not any(is_at_or_in(here, path) for path in (*closed, *open_)):  # it works there
        open_.append(here)
    more = tuple(map(real, policy.hidden))
    hidden = (*secrets(env, client, real), *ours(env, real), *scratch_folders(env, real), *more)
    return ResolvedFence(
        here=here,
        open=tuple(dict.fromkeys(open_)),
        closed=closed,
        settings=tuple(path for path in settings_of(client, env) if path not in named),
        private=tuple(path for path in private_folders(client, env) if path not in named),
        hidden=tuple(path for path in hidden if path not in named),
    )


def _start(confinement: Confinement, cwd: Path, real: RealPaths) -> str:
    """In a place that is open, another process may have put a link to elsewhere here: it opens nothing there."""
    here, named = real(cwd), os.path.abspath(cwd)  # noqa: PTH100 - without following a link
    for place in map(str, confinement.open):
        if is_at_or_in(named, place) and not is_at_or_in(here, real(place)):
            raise Unavailable(f"{cwd} is a link that leads to {here} now, so nothing is started there")
    return here


class RealPaths:
    """Real paths of one moment: as `os.path.realpath`, but no folder is looked at twice.

    A fence names some hundred paths, and most of them lie in the same few folders. Make one of these for each start:
    what is a link may change between two starts.
    """

    def __init__(self) -> None:
        self._known = {"/": "/"}

    def __call__(self, path: str | os.PathLike[str]) -> str:
        path = os.fspath(path)
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = self._found(path)
        return found

    def _found(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        if not path.startswith("/") or name in {"", ".", ".."} or "//" in path or path.count("/") > _DEEPEST:
            return realpath(path)
        parent = self(folder or "/")
        here = f"{parent}/{name}" if parent != "/" else f"/{name}"
        try:
            os.readlink(here)  # noqa: PTH115 - texts throughout: a hundred paths for each start
        except OSError:  # it is no link, or is not there
            return here
        return realpath(here)
