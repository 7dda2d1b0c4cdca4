"""Takes in what an agent left in a tree: files and links become entries of our index, everything else is refused.

Before git looks at the folder, a survey bounds it, and every `.git` in it is put out of git's sight: our git enters no
repository of an agent. Of a submodule we read only the name of its commit.
"""

from __future__ import annotations

import contextlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from aotloop.deletion import remove_tree
from aotloop.git.agent_submodules import AgentSubmodules, Aside
from aotloop.git.governed_paths import governed_paths
from aotloop.git.objects import Change, changes
from aotloop.git.survey import Survey, TooDeepError, survey
from aotloop.git.takeable import NotTakeable
from aotloop.git.work_tree import WorkTree

LARGEST_FILE = 256 << 20
MOST_BYTES = 1 << 30
"""Bytes of one changed file, and of all changed files together."""

_READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_LARGEST_LIST = 8 << 20
_OF_FILES = re.compile(r"unable to (add|index)|invalid path|Permission denied")
_OF_THE_MACHINE = re.compile(r"No space left|Disk quota|Read-only file system|\.lock'")
_MIB = 1 << 20


class Taken(msgspec.Struct, frozen=True):
    changes: list[Change]
    submodules: AgentSubmodules


def take_in(tree: WorkTree, base: str) -> Taken:
    """All changes since the base; they are in our index now. Raises NotTakeable."""
    found = _looked_at(tree)
    with _out_of_sight(tree, base, found) as inner:
        _refuse_large(tree, found)
        inner.note()
        _add_all(tree)
    taken = changes_since(tree, base)
    inner.refuse_lost(taken)
    return Taken(taken, inner)


def refuse_governed(tree: WorkTree, base: str, taken: Sequence[Change]) -> None:
    for path, name in governed_paths(tree, base, taken):
        raise NotTakeable(f"git's filter {name!r} is responsible for {path}, and no filter is run for an agent's files")


def changes_since(tree: WorkTree, base: str) -> list[Change]:
    """The changes of our index."""
    words = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", base)
    return list(changes(tree.git(*words).fields))


def _looked_at(tree: WorkTree) -> Survey:
    try:
        found = survey(tree.path, _LARGEST_LIST)
    except TooDeepError as error:
        raise NotTakeable(error.message) from error
    for path in (*found.specials, *found.large):
        if posixpath.basename(path) in _READ_BY_GIT:
            raise NotTakeable(f"{path} is no file that git could read")
    return found


@contextlib.contextmanager
def _out_of_sight(tree: WorkTree, base: str, found: Survey) -> Iterator[AgentSubmodules]:
    """While open, no `.git` is below the top. Those of submodules come back, others are gone."""
    inner = AgentSubmodules(tree, base, found.repositories)
    aside: list[Aside] = []
    try:
        for path in found.repositories:
            if inner.is_worktree(path):
                remove_tree(tree.path / posixpath.dirname(path))
            elif inner.is_submodule(path):
                aside.append(Aside.put(tree.path / path))
            else:
                remove_tree(tree.path / path)
        yield inner
    finally:
        for moved in aside:
            moved.put_back()


def _refuse_large(tree: WorkTree, found: Survey) -> None:
    """Only changed files count. Git tells them by their sizes and times, and does not read them."""
    if found.size <= MOST_BYTES and not found.large:
        return
    words = ("ls-files", "-z", "--modified", "--others", "--exclude-standard")
    sizes = dict(_sizes(tree.path, tree.git(*words).fields))
    total = sum(sizes.values())
    for path, size in sizes.items():
        if size > LARGEST_FILE:
            told = f"{path} is too large ({size // _MIB} MiB; at most {LARGEST_FILE // _MIB} MiB)"
            raise NotTakeable(f"{told}; a file that is no part of the work belongs into .gitignore")
    if total > MOST_BYTES:
        told = f"its changed files are too large together ({total // _MIB} MiB; at most {MOST_BYTES // _MIB} MiB)"
        raise NotTakeable(f"{told}; what is no part of the work belongs into .gitignore")


def _sizes(top: Path, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    for path in paths:
        with contextlib.suppress(OSError):
            yield path, (top / path).lstat().st_size


def _add_all(tree: WorkTree) -> None:
    done = tree.git("add", "--all", accept=())
    if done.code and _OF_FILES.search(done.err) and not _OF_THE_MACHINE.search(done.err):
        raise NotTakeable(done.err.strip().partition("\n")[0].removeprefix("error: ").removeprefix("fatal: "))
    if done.code:
        tree.git("add", "--all")
