"""The life of one worktree: made, moved to a commit, proven clean, removed.

This module removes only files in the worktree and in its private folder within the repository.
"""

from __future__ import annotations

import contextlib
import glob
import os
import posixpath
import shutil
from pathlib import Path

from aotloop.errors import Unavailable
from aotloop.git.repository import is_at_or_in
from aotloop.git.worktrees import worktree
from aotloop.git.worktrees.submodules import MODULES, changed_inside, update_submodules
from aotloop.git.worktrees.worktree import INDEX, Desk

_LASTING = frozenset({"HEAD", "commondir", "gitdir", "logs", "modules", "refs"})
"""Files of the private folder that stay. The rest (unfinished merges, locks, settings) is removed."""


REMOVED = "aot-removed-"

_IGNORING = ".gitignore"


def make(desk: Desk) -> None:
    words = ("worktree", "add", "--quiet", "--no-checkout", "--detach", str(desk.path), desk.base)
    if desk.repository.git(*words, accept=(), holding=desk.locks).code:
        remove(desk)  # a git that died may have left a part of one; the next git would choose another name
        desk.repository.git(*words, holding=desk.locks)  # or another pool had removed the folder of worktrees
    if not is_registered(desk):  # git appends a number to the name of the private folder if there is one already
        raise Unavailable(f"git registered {desk.path} under another name")
    reset(desk)


def is_known(desk: Desk) -> bool:
    """Whether git has a registration of this worktree, whole or damaged, under this name or another."""
    return any(map(_told, _registrations(desk)))


def is_registered(desk: Desk) -> bool:
    with contextlib.suppress(OSError):
        return os.fsdecode((desk.git_dir / "gitdir").read_bytes()).rstrip("\n") == str(desk.path / ".git")
    return False


def reset(desk: Desk) -> bool:
    """Whether the worktree provably equals its base; ignored files stay."""
    _restore_link(desk)
    _forget_unfinished(desk.git_dir)
    desk.git("checkout", "--quiet", "--force", "--detach", desk.base)
    shutil.copy2(desk.git_dir / INDEX, desk.git_dir / "index")  # with its time, by which git knows which files to read
    if (desk.path / MODULES).exists():
        update_submodules(desk.repository, desk.path)
    worktree.forget(desk)
    _remove_ignoring(desk)
    if not _is_clean(desk):
        desk.git("clean", "-ffdq")
        if not _is_clean(desk):
            worktree.note(desk)
            if not _is_clean(desk):
                return False
    desk.cwd.mkdir(parents=True, exist_ok=True)
    return True


def detach(desk: Desk) -> None:
    """A branch that the agent has checked out, or was rebasing, could be checked out nowhere else."""
    with contextlib.suppress(OSError, Unavailable):
        _forget_unfinished(desk.git_dir)
        if (desk.git_dir / "HEAD").read_bytes().startswith(b"ref:"):
            desk.git("update-ref", "--no-deref", "HEAD", desk.base)


def remove(desk: Desk) -> None:
    """Removes the files, then the registration: in between, git sees a worktree that was deleted by hand."""
    remove_tree(desk.path)
    for private in _registrations(desk):
        # In one step, not file by file: any git that lists the worktrees meanwhile would fail on a part.
        removed = desk.repository.common_dir / f"{REMOVED}{private.name}"
        private.rename(removed)
        remove_tree(removed)


def _registrations(desk: Desk) -> list[Path]:
    """All registrations of this worktree, whole or damaged: a git that died may have left a part, or an empty one.

    If the name exists already, git appends a number; such a registration is ours if its content says so.
    """
    expected = os.fsencode(desk.path / ".git") + b"\n"
    return [
        private
        for private in {desk.git_dir, *desk.git_dir.parent.glob(f"{glob.escape(desk.path.name)}[0-9]*")}
        if private.is_dir() and expected.startswith(told := _told(private)) and (told or private == desk.git_dir)
    ]


def _told(private: Path) -> bytes:
    """The path of the worktree, as the registration says it."""
    try:
        return (private / "gitdir").read_bytes()
    except FileNotFoundError:
        return b""


def remove_tree(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        try:
            shutil.rmtree(path)
        except OSError:
            with contextlib.suppress(FileNotFoundError):  # another pool, at its end, removes the same files
                _make_removable(path)
                shutil.rmtree(path)


def _make_removable(path: Path) -> None:
    path.chmod(0o700)
    for folder, names, _ in os.walk(path):
        for name in names:
            inner = Path(folder, name)
            if not inner.is_symlink():
                inner.chmod(0o700)


def _restore_link(desk: Desk) -> None:
    """The agent may have removed `.git`, or put another repository in its place."""
    link = desk.path / ".git"
    content = b"gitdir: " + os.fsencode(desk.git_dir) + b"\n"
    if link.is_symlink() or not link.is_file() or link.read_bytes() != content:
        remove_tree(link)
        link.write_bytes(content)


def _forget_unfinished(git_dir: Path) -> None:
    with os.scandir(git_dir) as entries:
        for entry in entries:
            lasting = entry.name in _LASTING or (entry.name.startswith("aot-") and not entry.name.endswith(".lock"))
            if not lasting:
                remove_tree(Path(entry.path))
    for name in ("bisect", "rewritten", "worktree"):
        remove_tree(git_dir / "refs" / name)


def _remove_ignoring(desk: Desk) -> None:
    """An ignore file of the agent that ignores itself would hide all other files beside it from us."""
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    while hiding := [path for path in desk.git(*words).fields if posixpath.basename(path) == _IGNORING]:
        folders = {path: posixpath.dirname(path) for path in hiding}
        tracked = desk.git(
            "ls-files", "-z", "--", *(f":(top,literal){folder or '.'}" for folder in folders.values())
        ).fields
        beside_ours = [
            path for path, folder in folders.items() if not folder or any(is_at_or_in(file, folder) for file in tracked)
        ]
        for path in beside_ours:
            remove_tree(desk.path / path)
        if not beside_ours:
            return


def _is_clean(desk: Desk) -> bool:
    """Empty folders count, too, though `git status` does not see them: a check may need one."""
    seen = desk.git("ls-files", "-z", "--modified", "--others", "--directory", "--exclude-standard")
    if seen.out:
        return False
    return not (desk.path / MODULES).exists() or not changed_inside(desk)
