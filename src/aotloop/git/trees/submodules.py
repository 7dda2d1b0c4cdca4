"""Submodules of a tree: they come from the person's clones, if initialised there, not from the network.

Our git never enters what an agent has in the place of a submodule. For each one we have an index and a git folder of
our own, as for the tree itself. Commits that were never pushed are in the person's clone, too.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from aotloop.git.trees.own_copy import give_git_folder
from aotloop.git.trees.work_tree import MODULES, WorkTree, require_real_folder

SUBMODULE = "160000"
"""The mode of a submodule in a tree."""

_INNER = "modules"


class Submodule(msgspec.Struct, frozen=True):
    tree: WorkTree
    name: str
    path: str
    """From the top of the tree that it belongs to."""
    commit: str


def fill_submodules(tree: WorkTree, commit: str, git_folder: Path | None) -> None:
    """Writes the files of all submodules, at the commits that this commit names.

    `git_folder`: the git folder of the processes that work in the tree; None: they have none.
    """
    for submodule in submodules_of(tree, commit):
        require_real_folder(tree.path, submodule.path)
        submodule.tree.prepare()
        submodule.tree.fill(submodule.commit)
        submodule.tree.git("clean", "-ffdxq")
        inner = git_folder / _INNER / quote(submodule.name, safe="/") if git_folder is not None else None
        if inner is not None:
            above = os.path.relpath(submodule.tree.path, inner)
            give_git_folder(submodule.tree, submodule.commit, inner, above=above)
            (submodule.tree.path / ".git").write_bytes(
                os.fsencode(f"gitdir: {os.path.relpath(inner, submodule.tree.path)}\n")
            )
        fill_submodules(submodule.tree, submodule.commit, inner)


def are_as_committed(tree: WorkTree, commit: str) -> bool:
    """Whether the files of all submodules are exactly those of their commits."""
    words = ("ls-files", "-z", "--modified", "--others", "--directory")
    return all(
        not submodule.tree.git(*words).out and are_as_committed(submodule.tree, submodule.commit)
        for submodule in submodules_of(tree, commit)
    )


def submodules_of(tree: WorkTree, commit: str) -> Iterator[Submodule]:
    """Those of the commit that the person has initialised, and that do not lead out of the tree."""
    links = gitlinks_of(tree, commit)
    for name, path in _names(tree, commit) if links else ():
        clone = clone_of(tree, name)
        if path in links and clone is not None:
            own = tree.own / _INNER / quote(name, safe="")
            inner = replace(tree, path=tree.path / path, own=own, clone=clone)
            yield Submodule(inner, name, path, links[path])


def gitlinks_of(tree: WorkTree, commit: str) -> dict[str, str]:
    """Path → commit of everything that is a submodule there."""
    if tree.is_plain(commit) or tree.git("cat-file", "-e", f"{commit}:{MODULES}", accept=()).code:
        return {}
    listed = tree.git("ls-tree", "-r", "-z", "--full-tree", commit).fields
    facts = (line.partition("\t") for line in listed if line.startswith(f"{SUBMODULE} "))
    return {path: told.split(" ")[2] for told, _, path in facts}


def clone_of(tree: WorkTree, name: str) -> Path | None:
    """The person's clone of this name."""
    if tree.clone is not None:
        places = [tree.clone / _INNER]
    else:
        places = [tree.repository.git_dir / _INNER, tree.repository.common_dir / _INNER]
    found = (place / name for place in places if (place / name / "HEAD").is_file())
    return next(found, None)


def _names(tree: WorkTree, commit: str) -> Iterator[tuple[str, str]]:
    words = ("config", "-z", f"--blob={commit}:{MODULES}", "--get-regexp", r"^submodule\..*\.path$")
    for field in tree.git(*words, accept=()).fields:
        key, _, path = field.partition("\n")
        name = key.removeprefix("submodule.").removesuffix(".path")
        is_inside = name and ".." not in name.split("/") and not posixpath.isabs(name)
        if is_inside and posixpath.normpath(path) == path:
            yield name, path
