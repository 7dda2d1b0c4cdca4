"""Submodules of a worktree: they come from the person's checkout, if initialised there, not from the network.

Git keeps a clone of each for each worktree. The source is the person's own clone, so that commits which were never
pushed are there, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from aotloop.git.command import Place, git
from aotloop.git.objects import Change
from aotloop.git.repository import Repository, changed
from aotloop.git.worktrees.worktree import Desk

MODULES = ".gitmodules"
SUBMODULE = "160000"
"""The mode of a submodule in a tree."""


def update_submodules(repository: Repository, folder: Path) -> None:
    _update(folder, repository.git_dir / "modules", repository.common_dir / "modules")


def changed_inside(desk: Desk) -> tuple[str, ...]:
    """Submodules that differ from our index: no commit of this repository can carry their changes."""
    done = desk.git(
        "status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=none", "--no-renames"
    )
    return tuple(changed(field for field in done.fields if field[:1] == "1" and _is_changed(field)))


def made_only_here(desk: Desk, found: Iterable[Change]) -> tuple[str, ...]:
    """Submodules at commits that exist neither in the person's clone nor in its source."""
    moved = {change.path: change.blob for change in found if change.mode == SUBMODULE}
    names = {path: name for name, path in _submodules(desk.path)} if moved else {}
    return tuple(path for path, commit in moved.items() if not _is_elsewhere(desk, path, names.get(path), commit))


def _is_elsewhere(desk: Desk, path: str, name: str | None, commit: str) -> bool:
    clones = [source / "modules" / name for source in (desk.repository.git_dir, desk.repository.common_dir) if name]
    if any(clone.is_dir() and _answer(clone, "cat-file", "-e", f"{commit}^{{commit}}") is not None for clone in clones):
        return True
    return bool(_answer(desk.path / path, "for-each-ref", "--count=1", f"--contains={commit}", "refs/remotes"))


def _answer(folder: Path, *words: str) -> str | None:
    done = git(Place(folder), *words, accept=())
    return done.text if done.code == 0 else None


def _is_changed(field: str) -> bool:
    _, states, submodule, *_ = field.split(" ", 3)
    return submodule.startswith("S") and (states[1] != "." or submodule[2:] != "..")


def _update(folder: Path, *sources: Path) -> None:
    """`sources` are the folders that may hold the person's clones, by name."""
    for name, path in _submodules(folder):
        found = [source / name for source in sources if (source / name / "HEAD").is_file()]
        if not found:
            continue  # not initialised there, so not needed here
        place = Place(folder, (f"submodule.{name}.url={found[0]}", "protocol.file.allow=always"))
        git(place, "submodule", "--quiet", "update", "--init", "--force", "--checkout", "--", path)
        if (folder / path / MODULES).is_file():
            _update(folder / path, found[0] / "modules")


def _submodules(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and path of the submodules in the commit that do not lead out of it."""
    known = git(Place(folder), "ls-files", "-z", "--stage").fields
    links = {field.split("\t", 1)[1] for field in known if field.startswith(f"{SUBMODULE} ")}
    listed = git(
        Place(folder), "config", "-z", "--file", MODULES, "--get-regexp", r"^submodule\..*\.path$", accept=(0, 1)
    )
    for field in listed.fields:
        key, _, path = field.partition("\n")
        name = key.removeprefix("submodule.").removesuffix(".path")
        if path in links and ".." not in name.split("/"):
            yield name, path
