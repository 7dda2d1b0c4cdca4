"""Takes in what an agent left in a tree: files and links become entries of our index, everything else is refused.

Before git looks at the folder, a survey bounds it, and every `.git` in it is put out of git's sight: our git enters no
repository of an agent. Of a submodule we read only the name of its commit.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.deletion import remove_tree
from aotloop.git.command import git
from aotloop.git.commits.objects import Change, changes, link_targets
from aotloop.git.trees.agent_submodules import AgentSubmodules, Aside
from aotloop.git.trees.survey import ATTRIBUTES, NotTakeable, Survey, TooDeepError, survey
from aotloop.git.trees.work_tree import WorkTree

_UP_AGAIN = re.compile(r"(^|/)(?!\.{1,2}(/|$))[^/]+/+(\./+)*\.\.(/|$)")
"""A `..` behind a name goes up from where that name leads, which another link decides, now or later."""
_RUNS = ("clean", "smudge", "process")
_BASE_INDEX = "base-index"
_NO_FILTER = frozenset({"unspecified", "unset", "set", "lfs"})

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
    _refuse_leading_out(tree, taken)
    return Taken(taken, inner)


def _refuse_leading_out(tree: WorkTree, taken: Sequence[Change]) -> None:
    for path, target in link_targets(tree.place, taken):
        if why := refusal_of_link(path, target):
            raise NotTakeable(why)


def refusal_of_link(path: str, target: str) -> str | None:
    """What follows such a link later, in the checkout, is elsewhere; and `file` would find what no agent made."""
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith("/") or place == ".." or place.startswith("../"):
        return f"{path} is a link that leads out of the repository, to {target}"
    if _UP_AGAIN.search(target):
        return f"{path} is a link to {target}, which goes up again: leave out its `..`"
    return None


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


def governed_paths(tree: WorkTree, base: str, taken: Iterable[Change]) -> list[tuple[str, str]]:
    """Changed paths whose content a filter converts, such as one that encrypts, by the attributes before or after.

    With new attributes, files that did not change count as well: git would convert them when it next looks at them.

    A filter is a program, and it may be a file of the project. So none runs for the files of an agent, and a change of
    such a path is refused: its plain content would land. Git-lfs is the exception, see `pinned_settings`.
    """
    names = set(_filters(tree))
    changed = {change.path for change in taken}
    paths = sorted(changed)
    if not names or not paths:
        return []
    if any(posixpath.basename(path) == ATTRIBUTES for path in paths):  # they can name any file
        paths = sorted({*paths, *tree.git("ls-files", "-z").fields})
    before = tree.own / _BASE_INDEX
    place = tree.place
    at_base = replace(place, variables=(*place.variables, ("GIT_INDEX_FILE", str(before))))
    try:
        git(at_base, "read-tree", base)
        known, found = (list(_attributes(tree, index, paths)) for index in (str(before), None))
    finally:
        before.unlink(missing_ok=True)
    old = set(known)
    of_changed = [pair for pair in known if pair[0] in changed]
    new = [pair for pair in found if pair[0] in changed or pair not in old]
    return [(path, name) for path, name in (*of_changed, *new) if name in names]


def _filters(tree: WorkTree) -> Iterator[str]:
    for setting in tree.repository.settings:
        section, _, rest = setting.key.partition(".")
        name, _, key = rest.rpartition(".")
        if section == "filter" and key in _RUNS and setting.value and name not in _NO_FILTER:
            yield name


def _attributes(tree: WorkTree, index: str | None, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """As the `.gitattributes` in the index say; the files in the folder are not read."""
    place = tree.place
    if index is not None:
        place = replace(place, variables=(*place.variables, ("GIT_INDEX_FILE", index)))
    listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    fields = iter(git(place, "check-attr", "--cached", "-z", "--stdin", "filter", stdin=listed).fields)
    for path, _, name in zip(fields, fields, fields, strict=True):
        yield path, name
