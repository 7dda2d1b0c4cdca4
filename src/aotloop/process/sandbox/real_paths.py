"""Real paths of one moment: as `os.path.realpath`, but no folder is looked at twice.

A fence names some hundred paths, and most of them lie in the same few folders. Make one of these for each start: what
is a link may change between two starts.
"""

from __future__ import annotations

import os
from os.path import realpath

_DEEPEST = 100


class RealPaths:
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
