"""The state of the person's checkout at one moment: differences from HEAD, HEAD itself, and git's configuration.

Two states show the changes in between. A commit that lands changes HEAD and files together, so it shows no difference
here. Contents are kept among git's objects, so that a person's uncommitted edits can be restored.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from aotloop.foreign_tree import walk_foreign
from aotloop.git.checkout.fast_forward import landing
from aotloop.git.repository import Head, Repository

_SETTINGS = ("config", "config.worktree", "hooks", "info")
_TRIES, _PAUSE = 5, 0.05
_MOST_BYTES = 20_000_000
"""Bytes of one file; for a larger file only the fact of a change is known."""


class Entry(msgspec.Struct, frozen=True):
    """A file, a link, or no file (`mode` 0)."""

    mode: int = 0
    facts: str = ""
    """The identity of the file; for a link, its target."""
    blob: str | None = None
    """The object that keeps its content; None: it is too large, or there is no file."""
    can_be_kept: bool = False
    """The content is still to be kept."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    head: Head
    dirty: dict[str, Entry]
    """By path: files that differ from HEAD or are untracked. All other files that git knows are as in HEAD."""
    settings: dict[str, tuple[int, bytes]]
    """The files beside the objects: modes and contents, by path in git's folder."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    paths: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    moved: bool = False
    """HEAD is elsewhere."""

    @property
    def words(self) -> list[str]:
        return [*(["HEAD"] if self.moved else []), *self.paths, *(f".git/{name}" for name in self.settings)]


def look_at(repository: Repository, ignoring: Iterable[str] = ()) -> Look:
    """The state at a moment when no commit lands. `ignoring`: our own paths, from the top of the repository.

    In a large checkout it takes a while; a process that has something to land does not wait for it.
    """
    paths = tuple(ignoring)
    for _ in range(_TRIES):
        head, was_quiet = repository.head(), _is_quiet(repository)
        look = _look(repository, paths)
        if was_quiet and _is_quiet(repository) and repository.head() == head == look.head:
            return look
        time.sleep(_PAUSE)
    with landing(repository):
        return _look(repository, paths)


def _is_quiet(repository: Repository) -> bool:
    """Whether neither we nor the person is changing git's view of the checkout."""
    return not (repository.git_dir / "index.lock").exists()


def _look(repository: Repository, ignoring: tuple[str, ...]) -> Look:
    dirty = _entries(repository, repository.dirty(ignoring))
    return Look(head=repository.head(), dirty=dirty, settings=_settings(repository.common_dir))


def difference(before: Look, now: Look, ours: Iterable[str] = ()) -> Difference:
    """`ours`: commits by which we moved HEAD ourselves."""
    paths = sorted({*before.dirty, *now.dirty})
    names = sorted({*before.settings, *now.settings})
    has_moved = now.head.branch != before.head.branch or now.head.commit not in {before.head.commit, *ours}
    return Difference(
        paths=tuple(path for path in paths if before.dirty.get(path) != now.dirty.get(path)),
        settings=tuple(name for name in names if before.settings.get(name) != now.settings.get(name)),
        moved=has_moved,
    )


def _entries(repository: Repository, paths: Iterable[str]) -> dict[str, Entry]:
    found = {path: _entry(repository.top / path) for path in paths}
    kept = [path for path, entry in found.items() if entry.can_be_kept and "\n" not in path]
    for path, blob in zip(kept, _blobs(repository, kept), strict=True):
        found[path] = Entry(found[path].mode, blob or found[path].facts, blob)
    return found


def _entry(file: Path) -> Entry:
    try:
        facts = file.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return Entry(facts.st_mode, os.readlink(file))  # noqa: PTH115 - its exact text
    except OSError:
        return Entry()
    if not stat.S_ISREG(facts.st_mode):
        return Entry(facts.st_mode)
    return Entry(facts.st_mode, f"{facts.st_size} {facts.st_mtime_ns}", can_be_kept=facts.st_size <= _MOST_BYTES)


def _blobs(repository: Repository, paths: list[str]) -> list[str | None]:
    """None for a file that was removed meanwhile."""
    if not paths:
        return []
    words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
    listed = b"".join(os.fsencode(path) + b"\n" for path in paths)
    done = repository.git(*words, stdin=listed, accept=())
    if done.code == 0:
        return [*done.out.decode().split()]
    if len(paths) == 1:
        return [None]
    return [blob for path in paths for blob in _blobs(repository, [path])]


def _settings(folder: Path) -> dict[str, tuple[int, bytes]]:
    found = {}
    for name in _SETTINGS:
        top = folder / name
        for path in [top, *(Path(place, name) for place, _, names in walk_foreign(top) for name in names)]:
            with contextlib.suppress(OSError):
                if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
                    found[path.relative_to(folder).as_posix()] = (path.stat().st_mode, path.read_bytes())
    return found
