"""Worktrees that somebody else made: which of them git knows, where the work in them began, and their end.

A client starts an agent's worktree where it likes: at what is checked out, at an older commit, at a remote's branch
that is ahead or has gone another way. What counts as work is the difference from there.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.workspace.desks import Desk
from aotloop.workspace.repository import Repository
from aotloop.workspace.worktrees import is_registered, remove

_COMMIT = re.compile(rb"[0-9a-f]{40}([0-9a-f]{24})?")
_BRANCH = b"ref: refs/heads/"


def guest_at(repository: Repository, path: Path) -> Desk:
    """Raises Unavailable for what is no other worktree of this repository."""
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
    """Somebody said so: `git worktree lock`."""
    return (desk.git_dir / "locked").exists()


def dismiss(desk: Desk, branch: str) -> bool:
    """Removes the worktree, and the branch if it is the one that is checked out there. Whether it is gone."""
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
    """Where it was made; or, if it has taken in more of our branch since then, the last commit that both have."""
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


def _is_ancestor(repository: Repository, one: str, other: str) -> bool:
    return repository.git("merge-base", "--is-ancestor", one, other, accept=()).code == 0
