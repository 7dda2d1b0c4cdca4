"""Which entries of a folder a pattern of set-up finds (see `text.patterns`). Symbolic links are entries themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from aotloop.text.patterns import UNSEARCHED, parse


def find_paths(root: Path, text: str) -> list[str]:
    """Seen from `root`, a folder before what is in it."""
    pattern = parse(text)
    if UNSEARCHED.intersection(pattern.names):
        return []
    found = []
    pending = [("", pattern.start())]
    while pending:
        directory, states = pending.pop()
        is_listed = pattern.needs_listing(states)
        for name in _listed(root / directory) if is_listed else pattern.spelled_out(states):
            path = f"{directory}{name}"
            entry = root / path
            after = pattern.step(states, name, is_link=entry.is_symlink())
            if pattern.is_end(after) and (entry.is_dir() if pattern.directories_only else os.path.lexists(entry)):
                found.append(path)
            if pattern.goes_on(after) and entry.is_dir():
                pending.append((f"{path}/", after))
    return sorted(found, key=PurePosixPath)


def _listed(directory: Path) -> Iterator[str]:
    """What may not be listed cannot be copied either."""
    try:
        with os.scandir(directory) as entries:
            yield from [entry.name for entry in entries]
    except OSError:
        return


def outermost(paths: Iterable[str]) -> list[str]:
    """Without what lies in another of them: it comes along with its folder."""
    kept: dict[PurePosixPath, str] = {}
    for path in sorted(map(PurePosixPath, paths)):
        if not any(parent in kept for parent in path.parents):
            kept[path] = str(path)
    return list(kept.values())
