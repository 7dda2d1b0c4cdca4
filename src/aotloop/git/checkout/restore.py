"""Restores the person's checkout to an earlier state, and first keeps every file that it overwrites or removes.

A clean file gets the content of HEAD, an edit of the person gets its earlier content, byte for byte. A branch is moved
back only if git finds no uncommitted edit that blocks it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from aotloop.deletion import remove_tree
from aotloop.foreign_tree import copy_beneath
from aotloop.git.checkout.checkout_state import Difference, Entry, Look
from aotloop.git.checkout.fast_forward import landing
from aotloop.git.commits.attempt_commit import name_of
from aotloop.git.repository import Repository

STRAYED = "refs/aot/strayed/"


def put_back(
    repository: Repository, before: Look, found: Difference, evidence: Path, name: tuple[str, int]
) -> tuple[str, ...]:
    """Files that could not be restored, in words. `evidence`: a folder for the kept files; `name`: atom and attempt."""
    left = []
    with landing(repository):
        paths = list(found.paths)
        if found.moved:
            taken_in = _between(repository, before)
            left += [] if _moved_back(repository, before, name) else ["HEAD"]
            paths += [path for path in before.dirty if path in taken_in and path not in paths]
        left += [path for path in paths if not _path_back(repository, before, path, evidence)]
        for setting in found.settings:
            _setting_back(repository, before, setting, evidence / ".git")
    return tuple(left)


def _between(repository: Repository, before: Look) -> set[str]:
    """Files that commits changed since then: one may hold an uncommitted edit of the person."""
    if before.head.commit is None:
        return set()
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", before.head.commit, "HEAD")
    return set(repository.git(*words, accept=()).fields)


def _moved_back(repository: Repository, before: Look, name: tuple[str, int]) -> bool:
    now = repository.head()
    if now.commit is not None:
        repository.git("update-ref", "-m", "aot: keep", f"{STRAYED}{name_of(*name)}", now.commit)
    if before.head.commit is None:
        return False
    if now.branch != before.head.branch:
        branch = before.head.branch
        words = ("checkout", "--quiet", *([branch.removeprefix("refs/heads/")] if branch else ["--detach"]))
        if repository.git(*words, *([] if branch else [before.head.commit]), accept=()).code:
            return False
    return repository.git("reset", "--quiet", "--keep", before.head.commit, accept=()).code == 0


def _path_back(repository: Repository, before: Look, path: str, evidence: Path) -> bool:
    _save(repository.top / path, evidence / path)
    entry = before.dirty.get(path)
    if entry is None:
        return _clean(repository, path)
    if entry.mode == 0:
        _remove(repository.top / path)
        return True
    return _write(repository, path, entry)


def _clean(repository: Repository, path: str) -> bool:
    literal = f":(top,literal){path}"
    is_known = bool(repository.git("ls-tree", "-z", "HEAD", "--", path, accept=(0, 128)).out)
    if is_known:
        words = ("restore", "--source=HEAD", "--staged", "--worktree", "--", literal)
        return repository.git(*words, accept=()).code == 0
    repository.git("rm", "--quiet", "--cached", "--ignore-unmatch", "--", literal, accept=())
    _remove(repository.top / path)
    return True


def _write(repository: Repository, path: str, entry: Entry) -> bool:
    file, is_link = repository.top / path, stat.S_ISLNK(entry.mode)
    if (file.is_dir() and not file.is_symlink()) or (entry.blob is None and not is_link):
        return False
    content = os.fsencode(entry.facts) if is_link else repository.git("cat-file", "blob", str(entry.blob)).out
    _replace(file, content, entry.mode)
    return True


def _replace(file: Path, content: bytes, mode: int) -> None:
    """Replaces the file in one step: readers and a crash see the old file or the new file, never a part."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name[:100]}.aot-{os.getpid()}")
    beside.unlink(missing_ok=True)
    if stat.S_ISLNK(mode):
        beside.symlink_to(os.fsdecode(content))
    else:
        beside.write_bytes(content)
        beside.chmod(stat.S_IMODE(mode))
    beside.replace(file)


def _setting_back(repository: Repository, before: Look, name: str, evidence: Path) -> None:
    file = repository.common_dir / name
    _save(file, evidence / name)
    if name not in before.settings:
        _remove(file)
        return
    mode, content = before.settings[name]
    _replace(file, content, mode)


def _save(file: Path, copy: Path) -> None:
    """An error ends the whole restore: a file that was not kept is not touched."""
    if not os.path.lexists(file):
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    remove_tree(copy)
    copy_beneath(file.parent, file.name, copy)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        remove_tree(path)
        path.parent.rmdir()  # a folder that was made for it is empty now; others are not
