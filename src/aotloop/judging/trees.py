"""What is judged: the files of a project at one moment, each by its path and by what its content is known by."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from aotloop.core.model import Check
from aotloop.errors import Unavailable
from aotloop.workspace.globs import matching

_NOBODYS_WORK = frozenset(
    {".git", ".aot", "node_modules", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
)
"""Where no git says what is ignored: what tools leave behind, and what is installed."""


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    files: dict[str, str]
    """Path from the project's root → what is the same for the same content and mode."""
    commit: str | None = None
    """Of which a worktree can be made."""

    def in_scope(self, scope: str | tuple[str, ...] | None) -> list[str]:
        return sorted(self.files if scope is None else matching(self.files, patterns_of(scope)))

    def digest(self, scope: str | tuple[str, ...] | None) -> str:
        lines = (f"{self.files[path]}\t{path}\0" for path in self.in_scope(scope))
        return sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def patterns_of(scope: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if scope is None:
        return ()
    return (scope,) if isinstance(scope, str) else scope


def scope_of(check: Check) -> str:
    return ", ".join(patterns_of(check.scope))


def tree_in(root: Path, *, without: Iterable[str] = ()) -> Tree:
    """Of a folder of which no git knows."""
    left_out = frozenset(without)
    try:
        return Tree(files={path: facts for path, facts in _files(root) if path not in left_out})
    except OSError as error:
        raise Unavailable(f"{error.filename or root} cannot be read: {error.strerror}") from error


def _files(root: Path) -> Iterator[tuple[str, str]]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOBODYS_WORK]
        for name in names:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                content = os.fsencode(path.readlink())
            elif stat.S_ISREG(mode):
                content = path.read_bytes()
            else:
                continue
            yield path.relative_to(root).as_posix(), f"{mode:o} {sha256(content).hexdigest()}"
