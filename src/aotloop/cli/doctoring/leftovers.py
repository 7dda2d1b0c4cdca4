"""What processes that are gone have left: beside the state file, in the repository, and in the user's cache."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from aotloop.cli.doctoring.findings import Finding
from aotloop.cli.live.times import lasting
from aotloop.cli.output import counted
from aotloop.config import load
from aotloop.errors import AotError
from aotloop.statefile import durable, lease
from aotloop.statefile.store import Store
from aotloop.workspace.cleaning import REFS
from aotloop.workspace.pool import Pool
from aotloop.workspace.repository import Repository

ABOUT = "leftovers"
_OLD = 600.0
"""Seconds. Git holds its lock for a moment; whoever holds it this long is gone, or waits for somebody."""


def file_findings(store: Store) -> Iterator[Finding]:
    for role in get_args(lease.Role):
        path = lease.lease_file(store.path, role)
        if os.path.lexists(path) and lease.holder_of(store.path, role) is None:
            said = f"{path} is of a process that is gone{_since(path)}"
            fix = "It holds up nobody: the next one takes it over. You may remove it."
            yield Finding(about=ABOUT, what=f"lock ({role})", said=said, ok=None, fix=fix)
    temporary = durable.beside(store.path, "tmp")
    if os.path.lexists(temporary):
        said = f"{temporary} was never finished{_since(temporary)}"
        fix = "The state file is whole. The next change replaces it; you may remove it."
        yield Finding(about=ABOUT, what="half a state file", said=said, ok=None, fix=fix)


def repository_findings(repository: Repository, store: Store) -> Iterator[Finding]:
    is_run = lease.holder_of(store.path) is not None
    yield from _git_lock(repository, is_run=is_run)
    if is_run:  # what is there is in use
        return
    left = _worktrees(repository)
    if left:
        said = f"{counted(len(left), 'worktree')} of earlier runs: {left[0]}{' …' if len(left) > 1 else ''}"
        yield Finding(about=ABOUT, what="worktrees", said=said, ok=None, fix="`aot clean` removes them.")
    try:
        kept = repository.git("for-each-ref", "--format=%(refname)", REFS).text.split()
    except AotError as error:
        yield Finding(about=ABOUT, what="kept attempts", said=error.message, ok=None, fix=error.hint)
        return
    if kept:
        said = f"{counted(len(kept), 'attempt')} that failed or was given up, under {REFS}"
        fix = f"`git show {kept[0]}` shows the first; `aot clean` removes them."
        yield Finding(about=ABOUT, what="kept attempts", said=said, ok=None, fix=fix)


def _git_lock(repository: Repository, *, is_run: bool) -> Iterator[Finding]:
    lock = repository.git_dir / "index.lock"
    age = _age(lock)
    if age is None:
        return
    is_old = age > _OLD and not is_run
    fix = "If no git is running, remove it: nothing can land before."
    said = f"{lock} is there{_since(lock)}"
    yield Finding(about=ABOUT, what="git's lock", said=said, ok=False if is_old else None, fix=fix)


def _worktrees(repository: Repository) -> list[Path]:
    """In the usual folder, and in the configured one."""
    folders: list[Path | None] = [None]
    try:
        configured = load(repository.root).worktrees
        folders += [Path(configured).expanduser()] if configured is not None else []
        return [path for folder in folders for path in Pool(repository, folder).worktrees()]
    except AotError:  # told where the configuration is looked at
        return []


def _age(path: str | Path) -> float | None:
    """Seconds; None if it is not there."""
    try:
        return max(0.0, time.time() - os.lstat(path).st_mtime)
    except OSError:
        return None


def _since(path: str | Path) -> str:
    age = _age(path)
    return f", for {lasting(age)}" if age is not None and age >= 1 else ""
