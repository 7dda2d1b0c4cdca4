"""The project: its state file, its repository, and what runs have left (`leftovers`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aotloop import app
from aotloop.cli.doctoring.findings import Finding
from aotloop.cli.doctoring.leftovers import file_findings, repository_findings
from aotloop.errors import AotError, StateFileMissing
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.workspace.repository import find_repository

ABOUT, STATE_FILE = "project", "state file"


def project_findings(state_file: str | None) -> Iterator[Finding]:
    try:
        store = app.open_store(state_file)
        examination = store.examine()
    except StateFileMissing as error:
        yield Finding(about=ABOUT, what=STATE_FILE, said=error.message, ok=None, fix="`aot align` makes one.")
        return
    errors = [one for one in examination.findings if one.level == "error"]
    if errors:
        said = f"{store.path}: {errors[0]}"
        yield Finding(about=ABOUT, what=STATE_FILE, said=said, ok=False, fix="`aot validate` says more.")
        return
    status = examination.loop.control.status if examination.loop is not None else "unknown"
    yield Finding(about=ABOUT, what=STATE_FILE, said=f"{store.path} ({status})")
    yield from _holder(store, status)
    yield from _repository(store)
    yield from file_findings(store)


def _holder(store: Store, status: str) -> Iterator[Finding]:
    holder = holder_of(store.path)
    if holder is not None:
        said = f"{holder.name} runs it" + (f" since {holder.since}" if holder.since else "")
        yield Finding(about=ABOUT, what="run", said=said, ok=None, fix="`aot watch` shows it.")
    elif status == "running":
        said = "the process that ran it is gone"
        yield Finding(about=ABOUT, what="run", said=said, ok=None, fix="`aot run` goes on where it was.")


def _repository(store: Store) -> Iterator[Finding]:
    root = Path(project_root(store.path))
    try:
        repository = find_repository(root)
    except AotError as error:
        yield Finding(about=ABOUT, what="repository", said=error.message, ok=False, fix=error.hint)
        return
    if repository is None:
        fix = "`git init` makes worktrees, parallel attempts and taking back possible."
        said = f"{root} is in none: one attempt at a time, in place"
        yield Finding(about=ABOUT, what="repository", said=said, ok=None, fix=fix)
        return
    head = repository.head()
    branch = (head.branch or "no branch").removeprefix("refs/heads/")
    yield Finding(about=ABOUT, what="repository", said=f"{repository.top} on {branch}")
    yield from repository_findings(repository, store)
