"""Set-up of a worktree: adds what a fresh checkout lacks, once, and again only after a change of its inputs.

Files come from the person's checkout, and only files that git does not know there. The command comes from the person's
own configuration. All files that set-up leaves are listed in the worktree's private folder: they are not the agent's
work.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Protocol

import msgspec

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.foreign_files import read_plain
from aotloop.foreign_tree import copy_beneath, status_beneath
from aotloop.git.command import Place, git
from aotloop.git.repository import Repository
from aotloop.git.trees.work_tree import EXCLUDES
from aotloop.git.worktrees.found_paths import find_paths, outermost
from aotloop.git.worktrees.pool import Furnish
from aotloop.git.worktrees.worktree import Worktree
from aotloop.process import blocking_run
from aotloop.process.cancellation import governing_cancellation
from aotloop.process.environment import for_commands
from aotloop.process.exit_status import Completed
from aotloop.process.output import Tail
from aotloop.process.sandbox import Confinement
from aotloop.process.spec import Ending, Limits, ProcessSpec
from aotloop.text.patterns import parse

INPUTS = (
    "package.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "requirements*.txt",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "Cargo.toml",
    "Cargo.lock",
    "go.mod",
    "go.sum",
    "Gemfile",
    "Gemfile.lock",
    "composer.lock",
)

_DIGEST = "setup"
_LARGEST_INPUT = 1 << 26
_TAIL = 2_000
_AT_ONCE = 500
"""So many paths fit into the arguments of one command."""
_ENDING = Ending(grace=0.0, reach="group")
"""A server that left the process group, such as that of a build tool, may stay."""


class Surroundings(Protocol):
    @property
    def confinement(self) -> Confinement | None: ...

    @property
    def env(self) -> Mapping[str, str]: ...


Around = Callable[[Repository, Path], AbstractContextManager[Surroundings]]


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The person's settings; patterns are relative to the project."""

    command: str | None = None
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    inputs: tuple[str, ...] = INPUTS
    timeout: float = 1800.0
    variables: dict[str, str] = {}
    """Variables for the command, in addition to the person's own; a changed value is no reason to set up again."""
    around: Around | None = None
    """The fence for the command, by repository and worktree: what it installs may be named by a file of an agent."""


def furnisher(setup: Setup) -> Furnish | None:
    """For a pool; None if there is nothing to set up. The cancellation of the current thread ends the command."""
    if setup.command is None and not setup.copy and not setup.link:
        return None
    return lambda worktree: furnish(worktree, setup)


def furnish(worktree: Worktree, setup: Setup) -> None:
    placed = [
        *_place(worktree, setup.copy, _copy),
        *_place(worktree, setup.link, _link),
    ]
    _exclude(worktree, placed)
    if setup.command is None:
        return
    record, digest = worktree.own / _DIGEST, _digest(worktree, setup)
    if not record.is_file() or record.read_text() != digest:
        record.unlink(missing_ok=True)
        _run(setup, setup.command, worktree)
        _keep_apart(worktree)
        record.write_text(digest)


def _place(worktree: Worktree, patterns: Iterable[str], put: Callable[[Path, str, Path], None]) -> Iterator[str]:
    """The paths that exist now, relative to the top of the repository."""
    repository = worktree.repository
    for path in _wanted(repository, patterns, worktree.tree.place, repository.place):
        target = worktree.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.parent.resolve().is_relative_to(worktree.path.resolve()):
            raise Unavailable(
                f"{path} would be put outside of the worktree", hint="A folder in its path is a link; remove the link."
            )
        try:
            put(repository.top, path, target)
        except OSError as error:
            raise Unavailable(
                f"{path} cannot be given to a worktree: {error.strerror}",
                hint="`copy` takes files and folders of the project; no link may be on the way to them.",
            ) from error
        yield path


def _wanted(repository: Repository, patterns: Iterable[str], *places: Place) -> list[str]:
    """What the patterns find in the checkout and git does not know in any of the places."""
    found = [_found(repository, pattern) for pattern in patterns]
    tracked = _tracked(places, {path for paths in found for path in paths})
    wanted = (path for paths in found for path in outermost(path for path in paths if path not in tracked))
    return list(dict.fromkeys(wanted))


def _found(repository: Repository, pattern: str) -> list[str]:
    """Seen from the top of the repository."""
    parsed = parse(pattern)
    if not parsed.names or parsed.is_absolute or ".." in parsed.names:
        raise Unavailable(f"not a path within the project: {pattern!r}", hint="See copy and link in aot.toml.")
    inner = repository.root.relative_to(repository.top)
    return [(inner / path).as_posix() for path in find_paths(repository.root, pattern)]


def _tracked(places: Iterable[Place], paths: Iterable[str]) -> set[str]:
    """What git knows at or in these paths, and the folders on the way to it."""
    names = sorted(f":(top,literal){path}" for path in paths)
    known: set[str] = set()
    for start in range(0, len(names), _AT_ONCE):
        for place in places:
            known.update(git(place, "ls-files", "-z", "--", *names[start : start + _AT_ONCE]).fields)
    return known | {str(folder) for path in known for folder in PurePosixPath(path).parents}


def _copy(top: Path, path: str, target: Path) -> None:
    """Copies a file whenever it differs; a folder, which may be large, only once."""
    there, here = status_beneath(top, path), target.lstat() if os.path.lexists(target) else None
    if stat.S_ISDIR(there.st_mode):
        if here is None or not stat.S_ISDIR(here.st_mode):
            remove_tree(target)
            copy_beneath(top, path, target)
        return
    if here is None or (there.st_mode, there.st_size, there.st_mtime_ns) != (
        here.st_mode,
        here.st_size,
        here.st_mtime_ns,
    ):
        remove_tree(target)
        copy_beneath(top, path, target)


def _link(top: Path, path: str, target: Path) -> None:
    """The fence opens nothing for it: agents read through it what they may read anyway, and change nothing there."""
    source = top / path
    if not target.is_symlink() or target.readlink() != source:
        remove_tree(target)
        target.symlink_to(source)


def _keep_apart(worktree: Worktree) -> None:
    """The command may have changed files of the project (a lock file, say) and left new files without ignoring them."""
    worktree.tree.fill(worktree.base)
    _exclude(worktree, worktree.git("ls-files", "-z", "--others", "--directory", "--exclude-standard").fields)


def _exclude(worktree: Worktree, paths: Iterable[str]) -> None:
    listing = worktree.own / EXCLUDES
    lines = listing.read_bytes().split(b"\n") if listing.is_file() else []
    known = set(lines)
    new = [line for line in map(_pattern, paths) if line not in known and b"\n" not in line]
    if new:
        listing.write_bytes(b"\n".join([*lines, *new]))


def _pattern(path: str) -> bytes:
    """A pattern for only this path. A slash at its end would exclude a link to a folder."""
    escaped = "".join(f"\\{character}" if character in "\\*?[ " else character for character in path.rstrip("/"))
    return os.fsencode(f"/{escaped}")


def _digest(worktree: Worktree, setup: Setup) -> str:
    digest = sha256(msgspec.json.encode((setup.command, setup.copy, setup.link, setup.inputs, setup.timeout)))
    inputs = {path for pattern in setup.inputs for path in find_paths(worktree.cwd, pattern)}
    for path in sorted((path for path in inputs if (worktree.cwd / path).is_file()), key=PurePosixPath):
        content = read_plain(worktree.cwd / path, _LARGEST_INPUT, follows=True)
        digest.update(b"%b\0%d\0%b" % (os.fsencode(path), len(content), content))
    return digest.hexdigest()


def _run(setup: Setup, command: str, worktree: Worktree) -> None:
    output = Tail(_TAIL)
    with setup.around(worktree.repository, worktree.path) if setup.around is not None else nullcontext() as fence:
        spec = ProcessSpec(
            argv=("/bin/sh", "-c", command),
            cwd=worktree.cwd,
            env={
                **for_commands(os.environ, git="person"),
                **setup.variables,
                **(fence.env if fence is not None else {}),
            },
            stderr="stdout",
            confinement=fence.confinement if fence is not None else None,
            limits=Limits(total=setup.timeout),
            ending=_ENDING,
        )
        completed = blocking_run.run(spec, out=output, cancellation=governing_cancellation())
    problem = _problem(completed)
    if problem is not None:
        said = output.text().strip()
        raise Unavailable(f"set-up {problem}: {command}\n{said}".rstrip(), hint="See setup in aot.toml.")


def _problem(completed: Completed) -> str | None:
    if completed.cancelled:
        return "was cancelled"
    if completed.expiry is not None:
        return "did not end in time"
    return f"failed with exit {completed.status}" if completed.status else None
