"""Checks the project: its state file, its repository, and leftovers of runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from aotloop.app.loops import open_store
from aotloop.cli.doctor.diagnosis import Finding
from aotloop.clock import unix_time
from aotloop.config.sources import load
from aotloop.errors import AotError, StateFileMissing
from aotloop.git.cleanup import REFS
from aotloop.git.repository import Repository, find_repository
from aotloop.git.worktrees.pool import Pool
from aotloop.statefile import durable, lease
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.phrases import counted, lasting

ABOUT, STATE_FILE = "project", "state file"


def project_findings(state_file: str | None) -> Iterator[Finding]:
    try:
        store = open_store(state_file)
        examination = store.examine()
    except StateFileMissing as error:
        yield Finding(about=ABOUT, subject=STATE_FILE, result=error.message, ok=None, fix="`aot align` makes one.")
        return
    errors = [finding for finding in examination.findings if finding.level == "error"]
    if errors:
        result = f"{store.path}: {errors[0]}"
        yield Finding(about=ABOUT, subject=STATE_FILE, result=result, ok=False, fix="`aot validate` gives details.")
        return
    status = examination.loop.control.status if examination.loop is not None else "unknown"
    yield Finding(about=ABOUT, subject=STATE_FILE, result=f"{store.path} ({status})")
    yield from _holder(store, status)
    yield from _repository(store)
    yield from file_findings(store)


def _holder(store: Store, status: str) -> Iterator[Finding]:
    holder = holder_of(store.path)
    if holder is not None:
        result = f"{holder.name} runs it" + (f" since {holder.since}" if holder.since else "")
        yield Finding(about=ABOUT, subject="run", result=result, ok=None, fix="`aot watch` shows it.")
    elif status == "running":
        result = "the process that ran it has ended"
        yield Finding(about=ABOUT, subject="run", result=result, ok=None, fix="`aot run` continues the loop.")


def _repository(store: Store) -> Iterator[Finding]:
    root = Path(project_root(store.path))
    try:
        repository = find_repository(root)
    except AotError as error:
        yield Finding(about=ABOUT, subject="repository", result=error.message, ok=False, fix=error.hint)
        return
    if repository is None:
        fix = "`git init` makes worktrees, parallel attempts and reverts possible."
        result = f"{root} is not in a repository: one attempt at a time, in place"
        yield Finding(about=ABOUT, subject="repository", result=result, ok=None, fix=fix)
        return
    head = repository.head()
    branch = (head.branch or "no branch").removeprefix("refs/heads/")
    yield Finding(about=ABOUT, subject="repository", result=f"{repository.top} on {branch}")
    yield from repository_findings(repository, store)


LEFTOVERS = "leftovers"
_OLD = 600.0
"""Seconds. Git holds its lock only briefly; an older lock belongs to a dead or blocked process."""


def file_findings(store: Store) -> Iterator[Finding]:
    for role in get_args(lease.Role):
        path = lease.lease_file(store.path, role)
        if os.path.lexists(path) and lease.holder_of(store.path, role) is None:
            result = f"{path} belongs to a process that has ended{_since(path)}"
            fix = "It blocks nothing: the next process takes it over. You may remove it."
            yield Finding(about=LEFTOVERS, subject=f"lock ({role})", result=result, ok=None, fix=fix)
    log = durable.beside(store.path, "log")
    if os.path.lexists(log) and lease.holder_of(store.path) is None:
        result = f"{log} has the last updates of a run that was killed{_since(log)}"
        fix = "Nothing is lost: every command reads it, and the next change puts it into the state file. Keep it."
        yield Finding(about=LEFTOVERS, subject="updates beside the state file", result=result, ok=None, fix=fix)
    fix = "The state file itself is complete. The next change replaces this file; you may remove it."
    temporary, old = durable.beside(store.path, "tmp"), durable.beside(store.path, "old")
    if os.path.lexists(temporary):
        result = f"{temporary} was never finished{_since(temporary)}"
        yield Finding(about=LEFTOVERS, subject="half a state file", result=result, ok=None, fix=fix)
    if os.path.lexists(old) and lease.holder_of(store.path) is None:
        result = f"{old} is the state file before a change by a process that was killed{_since(old)}"
        yield Finding(about=LEFTOVERS, subject="an old state file", result=result, ok=None, fix=fix)


def repository_findings(repository: Repository, store: Store) -> Iterator[Finding]:
    is_run = lease.holder_of(store.path) is not None
    yield from _git_lock(repository, is_run=is_run)
    if is_run:  # the worktrees are in use
        return
    left = _worktrees(repository)
    if left:
        result = f"{counted(len(left), 'worktree')} of earlier runs: {left[0]}{' …' if len(left) > 1 else ''}"
        yield Finding(about=LEFTOVERS, subject="worktrees", result=result, ok=None, fix="`aot clean` removes them.")
    try:
        kept = repository.git("for-each-ref", "--format=%(refname)", REFS).text.split()
    except AotError as error:
        yield Finding(about=LEFTOVERS, subject="kept attempts", result=error.message, ok=None, fix=error.hint)
        return
    if kept:
        result = f"{counted(len(kept), 'commit')} of earlier attempts under {REFS}"
        fix = f"`git show {kept[0]}` shows the first; `aot clean` removes them."
        yield Finding(about=LEFTOVERS, subject="kept attempts", result=result, ok=None, fix=fix)


def _git_lock(repository: Repository, *, is_run: bool) -> Iterator[Finding]:
    lock = repository.git_dir / "index.lock"
    age = _age(lock)
    if age is None:
        return
    is_old = age > _OLD and not is_run
    fix = "If no git process is running, remove it: nothing can be merged before that."
    result = f"{lock} exists{_since(lock)}"
    yield Finding(about=LEFTOVERS, subject="git's lock", result=result, ok=False if is_old else None, fix=fix)


def _worktrees(repository: Repository) -> list[Path]:
    """Worktrees in the default folder and in the configured folder."""
    try:
        folders = {None, load(repository.root).worktrees}
        return [path for folder in folders for path in Pool(repository, folder).worktrees()]
    except AotError:  # the check of the configuration reports it
        return []


def _age(path: str | Path) -> float | None:
    """Seconds; None if the file does not exist."""
    try:
        return max(0.0, unix_time() - os.lstat(path).st_mtime)
    except OSError:
        return None


def _since(path: str | Path) -> str:
    age = _age(path)
    return f", for {lasting(age)}" if age is not None and age >= 1 else ""
