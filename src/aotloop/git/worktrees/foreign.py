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

from aotloop.deletion import remove_tree
from aotloop.errors import AotError, Unavailable
from aotloop.foreign_files import read_plain
from aotloop.git.commits.attempt_commit import changed_paths
from aotloop.git.commits.objects import contains
from aotloop.git.repository import Repository
from aotloop.git.trees.survey import NotTakeable
from aotloop.git.worktrees.worktree import GUESTS, Worktree

_COMMIT = re.compile(rb"[0-9a-f]{40}([0-9a-f]{24})?")
_BRANCH = b"ref: refs/heads/"
_REMOVED = "aot-removed-"
_LONGEST, _LARGEST_LOG = 1 << 14, 1 << 24
_CLAIM = "aot-agent"


def guest_at(repository: Repository, path: Path) -> Worktree:
    """Raises Unavailable if the folder is no other worktree of this repository."""
    wanted = os.path.realpath(path)
    if wanted == os.path.realpath(repository.top):
        raise Unavailable(f"{path} is the checkout itself, and no worktree", hint="--in-place takes work done there.")
    for worktree in _registered(repository):
        if os.path.realpath(worktree.path) == wanted:
            if not worktree.is_there:
                break
            found = msgspec.structs.replace(worktree, base=_beginning(worktree))
            found.tree.prepare()
            return found
    raise Unavailable(
        f"{path} is not a worktree of the repository in {repository.top}",
        hint="`git worktree list` names those it has.",
    )


def is_kept(worktree: Worktree) -> bool:
    """Whether `git worktree lock` protects it."""
    return os.path.lexists(_private(worktree) / "locked")


def dismiss(worktree: Worktree, branch: str) -> bool:
    """Removes the worktree, and its branch if that is checked out there. Returns whether it is gone."""
    private = _private(worktree)
    if is_kept(worktree) or _path_of(private) != worktree.path:
        return False
    head = read_plain(private / "HEAD", _LONGEST).strip()
    with contextlib.suppress(OSError):
        remove_tree(worktree.path)
        # In one step, not file by file: any git that lists the worktrees meanwhile would fail on a part.
        removed = worktree.repository.common_dir / f"{_REMOVED}{private.name}"
        private.rename(removed)
        remove_tree(removed)
        remove_tree(worktree.own)
        for folder in (worktree.own.parent, worktree.repository.own_folder):
            folder.rmdir()
    if worktree.path.exists():
        return False
    if head == _BRANCH + os.fsencode(branch):
        worktree.repository.git("branch", "--quiet", "-D", "--", branch, accept=())
    return True


def remove_guests(repository: Repository) -> None:
    """Removes what we keep of worktrees that other programs made; it is made again when it is needed."""
    with contextlib.suppress(OSError):
        remove_tree(repository.own_folder / GUESTS)


def _private(worktree: Worktree) -> Path:
    return worktree.repository.common_dir / "worktrees" / (worktree.registration or worktree.path.name)


def _path_of(private: Path) -> Path | None:
    link = os.fsdecode(read_plain(private / "gitdir", _LONGEST)).rstrip("\n")
    return Path(os.path.normpath(private / link)).parent if link and "\0" not in link else None


def claim(git_dir: str, owner: str) -> None:
    """Notes that an agent of this loop works in the worktree with this private folder. If it fails, the worktree is
    not removed later: that is no harm.
    """
    with contextlib.suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(Path(git_dir) / _CLAIM, flags, 0o600), "wb") as file:  # noqa: PTH123 - follows no link
            file.write(os.fsencode(owner) + b"\n")


def dismiss_claimed(repository: Repository, folder: Path, owner: str) -> tuple[list[Path], list[Path]]:
    """Removes the worktrees in this folder that agents of this loop left without any work in them.

    The second list has those that stay, because their work is in no commit of the checked out branch.
    """
    removed, with_work = list[Path](), list[Path]()
    for worktree in _registered(repository):
        if (
            worktree.path.parent.resolve() != folder.resolve()
            or not worktree.is_there
            or not _is_claimed(worktree, owner)
        ):
            continue
        if is_kept(worktree):
            continue
        if _has_work(worktree):
            with_work.append(worktree.path)
        elif dismiss(worktree, f"worktree-{worktree.path.name}"):
            removed.append(worktree.path)
    return removed, with_work


def _is_claimed(worktree: Worktree, owner: str) -> bool:
    return read_plain(_private(worktree) / _CLAIM, _LONGEST) == os.fsencode(owner) + b"\n"


def _has_work(worktree: Worktree) -> bool:
    """Changed or new files, or commits that the checked out branch does not have. In doubt, there is work."""
    here, ours = _checked_out(worktree), worktree.repository.head().commit
    if not here or not ours or not contains(worktree.repository, here, ours):
        return True
    try:
        return bool(list(changed_paths(guest_at(worktree.repository, worktree.path))))
    except (AotError, NotTakeable):
        return True


def _registered(repository: Repository) -> Iterator[Worktree]:
    with contextlib.suppress(FileNotFoundError):
        for private in sorted((repository.common_dir / "worktrees").iterdir()):
            path = _path_of(private)
            if path is not None:
                yield Worktree(repository, path, "", registration=private.name)


def _beginning(worktree: Worktree) -> str:
    """The commit where it was made; or, if it has taken in more of our branch since, the last common commit."""
    here, ours = _checked_out(worktree), worktree.repository.head().commit
    shared = worktree.repository.git("merge-base", here, ours, accept=(0, 1)).text if here and ours else ""
    made = _made_at(worktree)
    if made is not None and not (shared and contains(worktree.repository, made, shared)):
        return made
    if not shared:
        raise Unavailable(
            f"{worktree.path} has no commit in common with what is checked out in {worktree.repository.top}"
        )
    return shared


def _checked_out(worktree: Worktree) -> str | None:
    """Of the worktree's own files only the name of a branch or a commit is read; the repository knows the rest."""
    name = read_plain(_private(worktree) / "HEAD", _LONGEST).strip()
    if name.startswith(_BRANCH):
        name = name.removeprefix(b"ref: ")
    elif not _COMMIT.fullmatch(name):
        return None
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{os.fsdecode(name)}^{{commit}}")
    done = worktree.repository.git(*words, accept=())
    return done.text if done.code == 0 else None


def _made_at(worktree: Worktree) -> str | None:
    """The first line of the log that git keeps of its HEAD."""
    log = read_plain(_private(worktree) / "logs" / "HEAD", _LARGEST_LOG)
    commit = log.partition(b"\n")[0].partition(b" ")[2].partition(b" ")[0]
    if not _COMMIT.fullmatch(commit):
        return None
    text = commit.decode()
    is_there = worktree.repository.git("cat-file", "-e", f"{text}^{{commit}}", accept=()).code == 0
    return text if is_there else None
