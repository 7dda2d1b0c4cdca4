"""The fence around checks: they run code that agents wrote, so they may change no more than an attempt may.

A check of an attempt may write in its clean tree. The base case, and the tests of a phase, may write in the checkout,
but not to git, to the files of the loop, and to what a person decided.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.fence.agent_folder import agent_folder
from aotloop.git.head import checkout_of
from aotloop.git.repository import Repository, find_repository, is_at_or_in
from aotloop.git.worktrees.setup import Setup
from aotloop.process.sandbox import Confinement, Policy, in_force
from aotloop.process.sandbox.engine import lets_make_in
from aotloop.statefile.durable import our_files
from aotloop.trust.folder import closed_folder


class Fence(msgspec.Struct, frozen=True, kw_only=True):
    confinement: Confinement | None = None
    env: dict[str, str] = {}
    """Variables in addition to those of the person."""
    temporary: Path | None = None
    """The folder for temporary files; None: the usual one."""


@contextmanager
def fence_around(confinement: Confinement | None, variables: Mapping[str, str] | None = None) -> Iterator[Fence]:
    """With a temporary folder of its own, unless the usual one is open to it alone."""
    env = dict(variables or {})
    if confinement is None or not in_force(confinement.policy).keeps_out:
        yield Fence(env=env)
        return
    if lets_make_in(confinement, os.environ.get("TMPDIR") or tempfile.gettempdir()):
        yield Fence(confinement=confinement, env=env)
        return
    with ExitStack() as stack:
        try:
            own = stack.enter_context(agent_folder())
        except Unavailable:
            if in_force(confinement.policy).engine != "bwrap":  # there, a temporary folder in memory is enough
                raise
            yield Fence(confinement=confinement, env=env)
            return
        yield Fence(confinement=confinement.opened(own), env={**env, "TMPDIR": str(own)}, temporary=own)


def tree_confinement(repository: Repository, tree: Path, fence: Policy | None = Policy()) -> Confinement | None:  # noqa: B008 - it cannot change
    """For a check in a clean tree. `fence`: the person's decision; None: no fence."""
    return _fenced((repository.top, repository.common_dir), (tree,), fence)


def checkout_confinement(root: Path, state_file: str, fence: Policy | None = Policy()) -> Confinement | None:  # noqa: B008 - as above
    """For commands that run in the checkout itself. `fence`: as above.

    Landlock cannot close a part of a folder without closing the folder to new files, and tests make new files there. So
    behind Landlock only what a person decided is closed; git and the files of the loop are not.
    """
    if fence is None:
        return None
    if in_force(fence).engine == "landlock":
        return _fenced(tuple(_elsewhere(root)), (), fence)
    files, folders = _ours(root, state_file)
    closed = [file for file in files if file.exists()]
    closed += [folder for folder in folders if folder.is_dir()]
    closed += [path for path in _of_git(root) if path.exists()]
    if is_at_or_in(os.path.realpath(sys.prefix), os.path.realpath(root)):  # aotloop itself is installed in the project
        closed.append(Path(sys.prefix))
    return _fenced(tuple(closed), (), fence)


@lru_cache(maxsize=8)
def _ours(root: Path, state_file: str) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Our files directly in the project, and the folders of the others. Every command of a run asks for them."""
    files = [root / path for path in our_files(state_file, str(root))]
    folders = {file.parent for file in files if file.parent != root}
    return tuple(file for file in files if file.parent == root), tuple(sorted(folders))


def fenced_setup(setup: Setup, fence: Policy | None) -> Setup:
    """Set-up behind the fence of a check in a clean tree, if the person wants that."""
    if fence is None or not fence.holds_commands:
        return setup
    return msgspec.structs.replace(
        setup, around=lambda repository, tree: fence_around(tree_confinement(repository, tree, fence))
    )


def _elsewhere(root: Path) -> Iterator[Path]:
    """Of a linked worktree: git's folder, and the first checkout, if they lie outside of the project."""
    for path in _of_git(root):
        for place in (path, path.parent) if path.name == ".git" else (path,):
            if not is_at_or_in(os.path.realpath(root), os.path.realpath(place)) and not is_at_or_in(
                os.path.realpath(place), os.path.realpath(root)
            ):
                yield place


def _of_git(root: Path) -> tuple[Path, ...]:
    """Without a git that can be started, the usual folder."""
    with suppress(Unavailable):
        return _told_by_git(root, *_git_entry(root))
    return (root / ".git",)


@lru_cache(maxsize=8)
def _told_by_git(root: Path, *_entry: object) -> tuple[Path, ...]:
    """Git is asked again only when its entry is another one: to ask costs more than a small command."""
    repository = find_repository(root)
    return (repository.common_dir, repository.top / ".git") if repository is not None else ()


def _git_entry(root: Path) -> tuple[str | int | None, ...]:
    """What decides where git's folders are: a folder, or a file that names one."""
    checkout = checkout_of(str(root))
    with suppress(OSError):
        entry = os.lstat(f"{checkout}/.git")
        is_folder = stat.S_ISDIR(entry.st_mode)
        return (checkout, entry.st_dev, entry.st_ino, None if is_folder else entry.st_mtime_ns)
    return ()


def _fenced(closed: tuple[Path, ...], opened: tuple[Path, ...], fence: Policy | None) -> Confinement | None:
    """None also if the person's home lies in what would be closed: no program could start as usual."""
    if fence is None:
        return None
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - never raises
    if any(is_at_or_in(home, os.path.realpath(path)) for path in closed):
        return None
    decided = closed_folder()
    return Confinement(closed=tuple(dict.fromkeys((*closed, *decided))), open=opened, policy=fence)
