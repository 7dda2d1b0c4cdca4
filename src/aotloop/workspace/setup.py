"""What a fresh checkout lacks is put into a worktree once, and again only when that on which it depends has changed.

Files come from the person's checkout, and only such as git does not know there; the command comes from the person's
own configuration. Whatever set-up leaves behind is listed in the worktree's private folder and is not the agent's work.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec
from msgspec.structs import replace

from aotloop.errors import Unavailable
from aotloop.workspace.desks import EXCLUDES, Desk
from aotloop.workspace.git import KEPT, git
from aotloop.workspace.pool import Furnish
from aotloop.workspace.repository import Repository
from aotloop.workspace.worktrees import remove_tree

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

_DIGEST = "aot-setup"
_TAIL = 2_000
_TICK = 0.02


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """As the person wrote it; patterns are seen from the project."""

    command: str | None = None
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    inputs: tuple[str, ...] = INPUTS
    timeout: float = 1800.0
    variables: dict[str, str] = {}
    """For the command, besides the person's own; another value is no reason to set up again."""


def furnisher(setup: Setup, is_cancelled: Callable[[], bool] = lambda: False) -> Furnish | None:
    """For a pool; None if there is nothing to set up."""
    if setup.command is None and not setup.copy and not setup.link:
        return None
    return lambda desk: furnish(desk, setup, is_cancelled)


def furnish(desk: Desk, setup: Setup, is_cancelled: Callable[[], bool] = lambda: False) -> None:
    placed = [
        *_place(desk, setup.copy, _copy),
        *_place(desk, setup.link, _link),
    ]
    _exclude(desk, placed)
    if setup.command is None:
        return
    record, digest = desk.git_dir / _DIGEST, _digest(desk, setup)
    if not record.is_file() or record.read_text() != digest:
        record.unlink(missing_ok=True)
        _run(setup, setup.command, desk.cwd, is_cancelled)
        _keep_apart(desk)
        record.write_text(digest)


def linked(repository: Repository, setup: Setup) -> tuple[Path, ...]:
    """What of the checkout worktrees share."""
    return tuple(repository.top / path for path in _found(repository, setup.link))


def _place(desk: Desk, patterns: Iterable[str], put: Callable[[Path, Path], None]) -> Iterator[str]:
    """The paths, seen from the top of the repository, of what is there now."""
    repository = desk.repository
    found = list(dict.fromkeys(_found(repository, patterns)))
    tracked = _tracked(desk, found) if found else []
    for path in found:
        target = desk.path / path
        if any(one == path or one.startswith(f"{path}/") for one in tracked):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.parent.resolve().is_relative_to(desk.path.resolve()):
            raise Unavailable(f"{path} would be put outside of the worktree", hint="A folder on its way is a link.")
        put(repository.top / path, target)
        yield path


def _found(repository: Repository, patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        if not pattern.strip("/") or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise Unavailable(f"not a path within the project: {pattern!r}", hint="See copy and link in aot.toml.")
        for path in sorted(repository.root.glob(pattern)):
            inner = path.relative_to(repository.top)
            if not {".git", ".aot"} & set(inner.parts):
                yield inner.as_posix()


def _tracked(desk: Desk, paths: Iterable[str]) -> list[str]:
    """What git knows of these, here or in the person's checkout."""
    wanted = ("ls-files", "-z", "--", *(f":(top,literal){path}" for path in paths))
    return [path for place in (desk.place, desk.repository.place) for path in git(place, *wanted).fields]


def _copy(source: Path, target: Path) -> None:
    """A file again whenever it differs; a folder, which may be large, only once."""
    if source.is_dir() and not source.is_symlink():
        if not target.is_dir() or target.is_symlink():
            remove_tree(target)
            shutil.copytree(source, target, symlinks=True)
        return
    there, here = source.lstat(), target.lstat() if os.path.lexists(target) else None
    if here is None or (there.st_mode, there.st_size, there.st_mtime_ns) != (
        here.st_mode,
        here.st_size,
        here.st_mtime_ns,
    ):
        remove_tree(target)
        shutil.copy2(source, target, follow_symlinks=False)


def _link(source: Path, target: Path) -> None:
    if not target.is_symlink() or target.readlink() != source:
        remove_tree(target)
        target.symlink_to(source)


def _keep_apart(desk: Desk) -> None:
    """The command may have rewritten files of the project, a lock file say, and left others that nobody ignores."""
    desk.git("checkout", "--quiet", "--force", "--detach", desk.base)
    _exclude(desk, desk.git("ls-files", "-z", "--others", "--directory", "--exclude-standard").fields)


def _exclude(desk: Desk, paths: Iterable[str]) -> None:
    listing = desk.git_dir / EXCLUDES
    excludes = desk.repository.excludes
    lines = listing.read_bytes().split(b"\n") if listing.is_file() else []
    if not lines and excludes is not None:
        lines = excludes.read_bytes().split(b"\n")  # the user's own list, in the place of which git reads this one
    known = set(lines)
    new = [line for line in map(_pattern, paths) if line not in known and b"\n" not in line]
    if new:
        listing.write_bytes(b"\n".join([*lines, *new]))


def _pattern(path: str) -> bytes:
    """For this path and no other. A slash at its end would not mean a link to a folder."""
    escaped = "".join(f"\\{character}" if character in "\\*?[ " else character for character in path.rstrip("/"))
    return os.fsencode(f"/{escaped}")


def _digest(desk: Desk, setup: Setup) -> str:
    digest = sha256(msgspec.json.encode(replace(setup, variables={})))
    for path in sorted({path for pattern in setup.inputs for path in desk.cwd.glob(pattern) if path.is_file()}):
        content = path.read_bytes()
        digest.update(b"%b\0%d\0%b" % (os.fsencode(path.relative_to(desk.cwd)), len(content), content))
    return digest.hexdigest()


def _run(setup: Setup, command: str, cwd: Path, is_cancelled: Callable[[], bool]) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or KEPT.match(name)}
    variables |= setup.variables
    with tempfile.TemporaryFile() as output:  # not a pipe, which anything left in the background would keep open
        shell = subprocess.Popen(  # noqa: S603 - the person's own command
            ["/bin/sh", "-c", command],
            cwd=cwd,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            problem = _wait(shell, time.monotonic() + setup.timeout, is_cancelled)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
        if problem is not None:
            raise Unavailable(f"set-up {problem}: {command}\n{_tail(output)}".rstrip(), hint="See setup in aot.toml.")


def _wait(shell: subprocess.Popen[bytes], deadline: float, is_cancelled: Callable[[], bool]) -> str | None:
    """What went wrong."""
    while shell.poll() is None:
        if is_cancelled():
            return "was cancelled"
        if time.monotonic() > deadline:
            return "did not end in time"
        time.sleep(_TICK)
    return f"failed with exit {shell.returncode}" if shell.returncode else None


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _TAIL))
    return output.read().decode("utf-8", "replace").strip()
