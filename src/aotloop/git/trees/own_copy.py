"""A git folder for the processes that work in a tree of ours. They may do there what they like; we never read it.

It borrows the person's objects and has copies of branches and tags, so that `git status`, `diff`, `log` and even
`commit` work there. Nothing that is done in it reaches the person's repository.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from aotloop.deletion import remove_tree
from aotloop.git.command import Place, git
from aotloop.git.pinned_settings import written
from aotloop.git.repository import Repository
from aotloop.git.trees.work_tree import INDEX, WorkTree

_REFS = "refs"

_OF_THE_ORIGINAL = re.compile(
    r"core\.(worktree|bare|hookspath|fsmonitor|sparsecheckout\w*)|extensions\.(?!objectformat$|partialclone$).*"
    r"|core\.repositoryformatversion|http\..*|credential\..*|include.*|gc\..*|maintenance\..*"
)
"""Not copied: where the original is, its secrets, and its housekeeping."""


def give_git_folder(tree: WorkTree, commit: str, folder: Path, *, above: str | None = None) -> None:
    """Makes a new folder, at this commit. `above`: the way from it to the files, if these are not just above."""
    remove_tree(folder)
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text(f"{commit}\n")
    (folder / "objects" / "info" / "alternates").write_bytes(_listed(tree.source / "objects"))
    (folder / "config").write_bytes(os.fsencode(_settings(tree.repository, above)))
    (folder / "packed-refs").write_bytes(_refs(tree, commit))
    if (tree.source / "shallow").is_file():
        shutil.copyfile(tree.source / "shallow", folder / "shallow")
    for name in ("exclude", "attributes"):
        source = tree.own / "git" / "info" / name
        if source.is_file():
            shutil.copyfile(source, folder / "info" / name)
    shutil.copy2(tree.own / INDEX, folder / "index")  # with its time, by which git knows which files to read


def _listed(objects: Path) -> bytes:
    """Git reads a path that begins with a quotation mark as quoted."""
    path = os.fsencode(objects)
    if b"\n" in path or path.startswith((b'"', b"#")):
        escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        path = b'"' + escaped + b'"'
    return path + b"\n"


def _settings(repository: Repository, above: str | None) -> str:
    kept = [
        (setting.key, setting.value)
        for setting in repository.settings
        if setting.scope in ("local", "worktree") and not _OF_THE_ORIGINAL.fullmatch(setting.key)
    ]
    is_extended = any(key.startswith("extensions.") for key, _ in kept)
    fixed = [
        ("core.repositoryformatversion", "1" if is_extended else "0"),
        ("core.bare", "false"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
    ]
    return written([*kept, *fixed, *([("core.worktree", above)] if above is not None else []), *_identity(repository)])


def _identity(repository: Repository) -> Iterable[tuple[str, str]]:
    """A commit needs an author, also where the person has none configured in the repository."""
    names = dict(repository.identity)
    known = {setting.key for setting in repository.settings}
    for key, variable in (("user.name", "GIT_AUTHOR_NAME"), ("user.email", "GIT_AUTHOR_EMAIL")):
        if key not in known and variable in names:
            yield key, names[variable]


def _refs(tree: WorkTree, commit: str) -> bytes:
    """Branches, tags and what is known of remotes, in the form in which git packs them. Asked once for each commit."""
    known = tree.own / _REFS
    mark = f"# {commit}\n".encode()
    if known.is_file() and (remembered := known.read_bytes()).startswith(mark):
        return remembered.removeprefix(mark)
    words = ("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/remotes")
    found = git(_place_of(tree), *words).out
    known.write_bytes(mark + found)
    return found


def _place_of(tree: WorkTree) -> Place:
    if tree.clone is None:
        return tree.repository.place
    ours = dict(tree.repository.checkout_variables) | {"GIT_DIR": str(tree.source)}
    del ours["GIT_WORK_TREE"]
    return Place(tree.repository.top, variables=tuple(ours.items()))
