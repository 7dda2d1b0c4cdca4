"""Worktrees that another program made: those that git knows, the start of the work in them, and their removal.

A client starts an agent's worktree at any commit: the checked out one, an older one, or a remote's branch that is ahead
or has diverged. The work is the difference from that start.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.git.repository import Repository
from aotloop.git.worktrees.lifecycle import is_registered, remove
from aotloop.git.worktrees.worktree import Desk

_COMMIT = re.compile(rb"[0-9a-f]{40}([0-9a-f]{24})?")
_BRANCH = b"ref: refs/heads/"


def guest_at(repository: Repository, path: Path) -> Desk:
    """Raises Unavailable if the folder is no other worktree of this repository."""
    wanted = os.path.realpath(path)
    if wanted == os.path.realpath(repository.top):
        raise Unavailable(f"{path} is the checkout itself, and no worktree", hint="--in-place takes work done there.")
    for desk in _registered(repository):
        if os.path.realpath(desk.path) == wanted:
            if not desk.is_there:
                break
            return msgspec.structs.replace(desk, base=_beginning(desk))
    raise Unavailable(
        f"{path} is not a worktree of the repository in {repository.top}",
        hint="`git worktree list` names those it has.",
    )


def is_kept(desk: Desk) -> bool:
    """Whether `git worktree lock` protects it."""
    return (desk.git_dir / "locked").exists()


def dismiss(desk: Desk, branch: str) -> bool:
    """Removes the worktree, and its branch if that is checked out there. Returns whether it is gone."""
    if is_kept(desk) or not is_registered(desk):
        return False
    head = b""
    with contextlib.suppress(OSError):
        head = (desk.git_dir / "HEAD").read_bytes().strip()
    with contextlib.suppress(OSError):
        remove(desk)
    if desk.path.exists():
        return False
    if head == _BRANCH + os.fsencode(branch):
        desk.repository.git("branch", "--quiet", "-D", "--", branch, accept=())
    return True


def _registered(repository: Repository) -> Iterator[Desk]:
    with contextlib.suppress(FileNotFoundError):
        for private in sorted((repository.common_dir / "worktrees").iterdir()):
            with contextlib.suppress(OSError):
                link = os.fsdecode((private / "gitdir").read_bytes()).rstrip("\n")
                yield Desk(repository, Path(os.path.normpath(private / link)).parent, "", private=private.name)


def _beginning(desk: Desk) -> str:
    """The commit where it was made; or, if it has taken in more of our branch since, the last common commit."""
    here = desk.git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1)).text
    ours = desk.repository.head().commit
    shared = desk.repository.git("merge-base", here, ours, accept=(0, 1)).text if here and ours else ""
    made = _made_at(desk)
    if made is not None and not (shared and _is_ancestor(desk.repository, made, shared)):
        return made
    if not shared:
        raise Unavailable(f"{desk.path} has no commit in common with what is checked out in {desk.repository.top}")
    return shared


def _made_at(desk: Desk) -> str | None:
    """The first line of the log that git keeps of its HEAD."""
    try:
        with (desk.git_dir / "logs" / "HEAD").open("rb") as log:
            _, _, rest = log.readline().partition(b" ")
    except OSError:
        return None
    commit = rest.partition(b" ")[0]
    if not _COMMIT.fullmatch(commit):
        return None
    text = commit.decode()
    is_there = desk.repository.git("cat-file", "-e", f"{text}^{{commit}}", accept=()).code == 0
    return text if is_there else None


def _is_ancestor(repository: Repository, commit: str, other: str) -> bool:
    return repository.git("merge-base", "--is-ancestor", commit, other, accept=()).code == 0
