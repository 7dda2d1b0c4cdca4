"""Submodules as an agent left them. Their git folders are the agent's: we read a commit's name from them, no more.

A submodule may stand at another commit than before, or be new. It lands if that commit can be found later: in the
person's clone, or at a remote's branch from which the agent fetched it.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
import secrets
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import msgspec

from aotloop.foreign_files import read_plain
from aotloop.foreign_tree import walk_foreign
from aotloop.git.commits.objects import Change
from aotloop.git.trees.submodules import SUBMODULE, Submodule, clone_of, gitlinks_of, submodules_of
from aotloop.git.trees.survey import GIT, NotTakeable
from aotloop.git.trees.work_tree import MODULES, WorkTree

_LARGEST = 1 << 20
_LARGEST_REFS = 1 << 24
_LONGEST = 1 << 12
_MOST_REFS = 1_000
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class Aside(msgspec.Struct, frozen=True):
    """A `.git` that is elsewhere for a moment."""

    home: Path
    shelter: Path

    @staticmethod
    def put(home: Path) -> Aside:
        """It stays in the submodule: there git takes in nothing, once our index knows the submodule."""
        shelter = home.with_name(f"{GIT}-{secrets.token_hex(8)}")
        home.rename(shelter)
        return Aside(home, shelter)

    def put_back(self) -> None:
        with contextlib.suppress(OSError):
            self.shelter.rename(self.home)


class AgentSubmodules:
    def __init__(self, tree: WorkTree, base: str, repositories: Iterable[str]) -> None:
        """`repositories`: every `.git` below the top of the tree."""
        self._tree = tree
        self._base = base
        self._found = {posixpath.dirname(path) for path in repositories}
        self._heads: dict[str, str] = {}
        self._clones: dict[str, Path] = {}
        self._remote: dict[str, set[str]] = {}

    @cached_property
    def _before(self) -> dict[str, str]:
        return gitlinks_of(self._tree, self._base)

    @cached_property
    def _inner(self) -> list[Submodule]:
        return list(_all(self._tree, self._base)) if self._before else []

    @cached_property
    def _named(self) -> dict[str, str]:
        """Path → name, as the agent's list of submodules says now."""
        words = ("config", "-z", "--file", "-", "--get-regexp", r"^submodule\..*\.path$")
        content = read_plain(self._tree.path / MODULES, _LARGEST)
        fields = self._tree.git(*words, stdin=content, accept=()).fields if content else ()
        pairs = (field.partition("\n") for field in fields)
        return {path: key.removeprefix("submodule.").removesuffix(".path") for key, _, path in pairs}

    def is_worktree(self, path: str) -> bool:
        """Whether the agent made another worktree there, of the git folder that we gave it."""
        target = _target(self._tree.path / path)
        return target is not None and _is_in(target, self._tree.path / GIT / "worktrees")

    def is_submodule(self, path: str) -> bool:
        folder = posixpath.dirname(path)
        known = {os.path.relpath(submodule.tree.path, self._tree.path) for submodule in self._inner}
        is_one = folder in self._before or folder in known or (folder in self._named and self._is_ours(path))
        if is_one:
            self._read(folder, self._tree.path / path)
        return is_one

    def _is_ours(self, path: str) -> bool:
        target = _target(self._tree.path / path)
        return target is not None and _is_in(target, self._tree.path / GIT / "modules")

    def _read(self, folder: str, entry: Path) -> None:
        git_folder = _target(entry) or entry
        head = _head(git_folder)
        if head is not None:
            self._heads[folder] = head
            self._remote[folder] = set(_remote_commits(git_folder))

    def note(self) -> None:
        """Records in our index at which commits the submodules are; git then takes in no file of theirs.

        A submodule whose files have become files of the project is none any more.
        """
        for path in self._before:
            is_vendored = path not in self._found and path not in self._named and (self._tree.path / path).is_dir()
            if is_vendored and any(submodule.path == path for submodule in self._inner):
                self._tree.git("update-index", "--force-remove", "--", path)
        wanted = {path: head for path, head in self._heads.items() if path in self._before or path in self._named}
        lines = [f"{SUBMODULE} {head} 0\t{path}\0" for path, head in wanted.items()]
        if lines:
            self._tree.git("update-index", "--replace", "-z", "--index-info", stdin=os.fsencode("".join(lines)))

    def refuse_lost(self, taken: Iterable[Change]) -> None:
        lost = [change.path for change in taken if change.mode == SUBMODULE and not self._can_be_found(change)]
        if lost:
            raise NotTakeable(f"commits in submodules go with the worktree: {', '.join(lost)}")

    def _can_be_found(self, change: Change) -> bool:
        if change.blob in self._remote.get(change.path, ()):
            return True
        clone = clone_of(self._tree, self._named.get(change.path, ""))
        if clone is None:
            return False
        place = msgspec.structs.replace(self._tree, clone=clone)
        return place.git("cat-file", "-e", f"{change.blob}^{{commit}}", accept=()).code == 0

    def changed_inside(self) -> tuple[str, ...]:
        """Submodules with changed files in them that no commit of this repository can carry."""
        return tuple(submodule.path for submodule in self._inner if self._is_changed(submodule))

    def _is_changed(self, submodule: Submodule) -> bool:
        if not (submodule.tree.path / GIT).exists():
            return False
        head = self._heads.get(os.path.relpath(submodule.tree.path, self._tree.path), submodule.commit)
        if head != submodule.commit and submodule.tree.git("read-tree", head, accept=()).code:
            return False
        return bool(submodule.tree.git("ls-files", "-z", "--modified").out)


def _all(tree: WorkTree, commit: str) -> Iterator[Submodule]:
    for submodule in submodules_of(tree, commit):
        yield submodule
        yield from _all(submodule.tree, submodule.commit)


def _target(entry: Path) -> Path | None:
    """Where a `.git` that is a file leads to."""
    text = os.fsdecode(read_plain(entry, _LONGEST)).strip()
    if not text.startswith("gitdir:") or "\0" in text:
        return None
    return Path(os.path.normpath(entry.parent / text.removeprefix("gitdir:").strip()))


def _is_in(path: Path, folder: Path) -> bool:
    return path != folder and path.is_relative_to(folder)


def _head(git_folder: Path) -> str | None:
    text = read_plain(git_folder / "HEAD", _LONGEST).decode("ascii", "replace").strip()
    name = text.removeprefix("ref: ")
    if name != text:
        is_plain = name.startswith("refs/") and ".." not in name.split("/")
        text = _refs(git_folder).get(name, "") if is_plain else ""
    return text if _COMMIT.fullmatch(text) else None


def _remote_commits(git_folder: Path) -> Iterator[str]:
    return (commit for name, commit in _refs(git_folder).items() if name.startswith("refs/remotes/"))


def _refs(git_folder: Path) -> dict[str, str]:
    """By name: the loose ones, which count more, and the packed ones."""
    found = {}
    for line in read_plain(git_folder / "packed-refs", _LARGEST_REFS).decode("utf-8", "replace").splitlines():
        commit, _, name = line.partition(" ")
        if _COMMIT.fullmatch(commit):
            found[name] = commit
    count = 0
    for folder, _, names in walk_foreign(git_folder / "refs"):
        for name in names:
            count += 1
            path = Path(folder, name)
            text = read_plain(path, _LONGEST).decode("ascii", "replace").strip()
            if _COMMIT.fullmatch(text):
                found[path.relative_to(git_folder).as_posix()] = text
        if count > _MOST_REFS:
            break
    return found
