"""Strays: branches and worktrees that an attempt made with git. They are removed after the attempt.

A branch belongs to the attempt only if the name did not exist when the attempt began, and it was created at the moment
of its checkout there: git's logs show both. Any other branch may belong to a person, and stays.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from aotloop.git.repository import Repository, is_at_or_in
from aotloop.git.worktrees.lifecycle import REMOVED, remove_tree
from aotloop.git.worktrees.worktree import Desk

_NOTE = "aot-branches"
_BRANCH = "refs/heads/"
_MOVE = b"checkout: moving from "
_SECONDS = 1
"""Git notes the second, and may have begun in the second before."""


def begin(desk: Desk) -> None:
    """Notes the branches that exist before the attempt."""
    top = desk.repository.common_dir / "logs" / _BRANCH
    found = [os.path.relpath(f"{folder}/{name}", top) for folder, _, names in os.walk(top) for name in names]
    (desk.git_dir / _NOTE).write_bytes(b"".join(os.fsencode(name) + b"\n" for name in found))
    (desk.git_dir / "logs" / "HEAD").unlink(missing_ok=True)  # of earlier attempts


@contextlib.contextmanager
def removed(desk: Desk) -> Iterator[None]:
    """Wraps the step that frees the branch that is checked out there."""
    remove_worktrees_within(desk)
    branches = list(_made_in(desk, desk.git_dir))
    yield
    _delete(desk, branches)


def remove_worktrees_within(desk: Desk) -> None:
    """Git would take their folders for submodules."""
    with contextlib.suppress(OSError):
        for private in sorted((desk.repository.common_dir / "worktrees").iterdir()):
            path = _path_of(private)
            if path is not None and path != desk.path and is_at_or_in(str(path), str(desk.path)):
                branches = list(_made_in(desk, private))
                remove_tree(path)
                gone = desk.repository.common_dir / f"{REMOVED}{private.name}"
                private.rename(gone)  # in one step: see `remove` in lifecycle
                remove_tree(gone)
                _delete(desk, branches)


def _delete(desk: Desk, branches: list[str]) -> None:
    for name in dict.fromkeys(branches):
        desk.repository.git("branch", "--quiet", "-D", "--", name, accept=())  # refused if checked out elsewhere


def _path_of(private: Path) -> Path | None:
    with contextlib.suppress(OSError):
        return Path(os.path.realpath(os.fsdecode((private / "gitdir").read_bytes()).rstrip("\n"))).parent
    return None


def _made_in(desk: Desk, private: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):
        known = (desk.git_dir / _NOTE).read_bytes().split(b"\n")
        logged = list(_moments(private / "logs" / "HEAD"))
        moved = [(what.rpartition(b" to ")[2], [moment]) for moment, what in logged if what.startswith(_MOVE)]
        now = (private / "HEAD").read_bytes().strip().removeprefix(f"ref: {_BRANCH}".encode())
        for name, moments in (*moved, (now, [moment for moment, _ in logged])):
            if name not in known and b".." not in name.split(b"/") and _began(desk.repository, name, moments):
                yield os.fsdecode(name)


def _began(repository: Repository, name: bytes, moments: list[int]) -> bool:
    log = repository.common_dir / "logs" / _BRANCH / os.fsdecode(name)
    first = next(_moments(log, only_births=True), None)
    return first is not None and any(abs(first[0] - moment) <= _SECONDS for moment in moments)


def _moments(log: Path, *, only_births: bool = False) -> Iterator[tuple[int, bytes]]:
    """The times and kinds of changes; `only_births`: only creations."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in log.read_bytes().splitlines():
            facts, _, what = line.partition(b"\t")
            if not only_births or not line.partition(b" ")[0].strip(b"0"):
                yield int(facts.split(b" ")[-2]), what
