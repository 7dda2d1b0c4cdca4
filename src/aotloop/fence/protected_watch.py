"""The watch over protected files while commands run beside them: an exchange is noticed, even one for a moment.

Commands run code that agents wrote, and one command may change what the next one runs. Names and stamps of the files
are compared; folders that lead to them are watched, because a folder can be exchanged without a trace in its files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import msgspec

from aotloop.fence.folder_events import FolderEvent, FolderEvents
from aotloop.git.repository import Repository, is_at_or_in
from aotloop.text.patterns import matching

_MADE_BY_TOOLS = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules", ".DS_Store"})
_MANY = "more than can be watched"


class Protected(msgspec.Struct, frozen=True, kw_only=True):
    """The protected files of one commit."""

    repository: Repository
    patterns: tuple[str, ...]
    paths: frozenset[str]
    """From the project's root."""

    @property
    def folders(self) -> frozenset[str]:
        """The folders that lead to them; the root is the empty path."""
        found = {
            "" if str(above) == "." else str(above) for path in self.paths for above in PurePosixPath(path).parents
        }
        return frozenset(found)


def protected_at(
    repository: Repository, commit: str | None, patterns: Sequence[str], ours: Sequence[str] = ()
) -> Protected | None:
    """None: nothing is protected. `ours`: files of the loop, which change by themselves."""
    if not patterns or commit is None:
        return None
    place = (f"{repository.prefix}/",) if repository.prefix else ()
    words = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", *place)
    start = len(repository.prefix) + 1 if repository.prefix else 0
    found = matching([path[start:] for path in repository.git(*words).fields], patterns)
    paths = frozenset(path for path in found if not any(is_at_or_in(path, file) for file in ours))
    return Protected(repository=repository, patterns=tuple(patterns), paths=paths) if paths else None


class ProtectedWatch:
    def __init__(self, root: Path, protected: Protected) -> None:
        self._root = root
        self._protected = protected
        self._folders = protected.folders
        self._touched: set[str] = set()
        self._new: set[str] = set()
        self._before = self._stamps()

    def changes(self) -> list[str]:
        """Call it when nothing runs any more. Paths from the project's root."""
        now = self._stamps()
        changed = {path for path in self._protected.paths if self._before[path] != now[path]}
        return sorted(changed | self._touched | self._not_ignored())

    def hear(self, event: FolderEvent) -> None:
        path = event.path or _MANY
        if path in self._protected.paths or path in self._folders or not event.path:
            self._touched.add(path)
        elif event.is_new and PurePosixPath(path).name not in _MADE_BY_TOOLS and not path.endswith(".pyc"):
            self._new.add(path)

    def _not_ignored(self) -> set[str]:
        """New files that the patterns mean, too: a test reads what lies beside it."""
        covered = [path for path in matching(sorted(self._new), self._protected.patterns) if "\n" not in path]
        if not covered:
            return set()
        repository = self._protected.repository
        prefix = f"{repository.prefix}/" if repository.prefix else ""
        asked = b"".join(os.fsencode(f"{prefix}{path}") + b"\0" for path in covered)
        done = repository.git("check-ignore", "--no-index", "-z", "--stdin", stdin=asked, accept=())
        ignored = {path.removeprefix(prefix) for path in done.fields}
        return {path for path in covered if path not in ignored}

    def _stamps(self) -> dict[str, tuple[int, ...] | None]:
        return {path: _stamp(self._root / path) for path in self._protected.paths}


@contextmanager
def watched(root: Path, protected: Protected | None) -> Iterator[ProtectedWatch | None]:
    """`root`: the folder of the project in which commands run now."""
    if protected is None:
        yield None
        return
    watch = ProtectedWatch(root, protected)
    try:
        events = FolderEvents(root, sorted(protected.folders), watch.hear)
    except OSError:  # too many folders, or another system: stamps are compared
        yield watch
        return
    try:
        yield watch
    finally:
        events.close()


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
