"""Files of the checkout that git's settings include: a change of one is an order to our git, so no attempt may make it.

A file may be included by a file that is included itself, and the way to it may lead over links of the checkout. All of
these count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from aotloop.git.pinned_settings import Setting

_INCLUDES = re.compile(r"include\.path|includeif\..*\.path")
_THE_PERSONS_OWN = frozenset({"system", "global"})
_DEEPEST = 10
"""As git itself."""


def included_files(settings: Iterable[Setting], top: Path, bases: Iterable[Path]) -> tuple[Path, ...]:
    """Also those that do not exist yet. `bases`: the folders of the first files of settings, and the checkout."""
    named = [
        setting.value
        for setting in settings
        if setting.scope not in _THE_PERSONS_OWN and _INCLUDES.fullmatch(setting.key)
    ]
    names = [os.path.expanduser(name) for name in named if name]  # noqa: PTH111 - never raises
    files: dict[str, None] = {}
    for _ in range(_DEEPEST):  # a path is relative to the file that names it
        folders = dict.fromkeys((*map(str, bases), *map(os.path.dirname, files)))
        known = len(files)
        paths = [os.path.join(folder, name) for name in names for folder in folders]  # noqa: PTH118 - texts throughout
        files |= dict.fromkeys(file for path in paths for file in _way_to(path, str(top)))
        if len(files) == known:
            break
    return tuple(map(Path, files))


def _way_to(path: str, top: str) -> Iterator[str]:
    """The file, if it is in the checkout, and each link in the checkout on the way to it."""
    for _ in range(_DEEPEST):
        path = os.path.normpath(path)
        link = _first_link(path, top)
        if path.startswith(f"{top}/"):
            yield link or path
        if link is None:
            break
        path = os.path.join(os.path.dirname(link), os.readlink(link), path.removeprefix(link).lstrip("/"))  # noqa: PTH115, PTH118, PTH120
    if (real := os.path.realpath(path)).startswith(f"{top}/"):
        yield real


def _first_link(path: str, top: str) -> str | None:
    """The first part of the path, below the top of the checkout, that is a link."""
    if not path.startswith(f"{top}/"):
        return None
    found = top
    for part in path.removeprefix(f"{top}/").split("/"):
        found = f"{found}/{part}"
        if os.path.islink(found):  # noqa: PTH114 - as above
            return found
    return None
