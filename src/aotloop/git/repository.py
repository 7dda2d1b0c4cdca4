"""The person's repository and checkout, read without any change: not even the index is refreshed.

Paths of a repository are text relative to its top level, wherever the project lies in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.git.command import Done, Place, git

OLDEST = (2, 38)
"""The first version that merges without a work tree."""

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SETTINGS = r"^((user|author|committer)\.(name|email)|core\.excludesfile)$"


class Head(msgspec.Struct, frozen=True):
    commit: str | None
    """None: there is no commit yet."""
    branch: str | None
    """The full name, `refs/heads/…`; None: the commit itself is checked out."""


class Repository(msgspec.Struct, frozen=True):
    root: Path
    """The project: the folder in which agents work and checks run."""
    top: Path
    git_dir: Path
    """Git's folder of this checkout; the repository's own unless it is a linked worktree."""
    common_dir: Path
    prefix: str
    """The path of the project in the repository: empty, or a path without a slash at its end."""
    identity: tuple[tuple[str, str], ...]
    """Variables for values that the user has not configured."""
    excludes: Path | None = None
    """The user's own list of ignored files."""

    @property
    def place(self) -> Place:
        return Place(self.top, variables=(*self.identity, ("GIT_OPTIONAL_LOCKS", "0")))

    def git(
        self, *words: str, stdin: bytes = b"", accept: tuple[int, ...] = (0,), holding: tuple[int, ...] = ()
    ) -> Done:
        return git(self.place, *words, stdin=stdin, accept=accept, holding=holding)

    def head(self) -> Head:
        return _head_in_files(self) or _head_from_git(self)

    def dirty(self, ignoring: Iterable[str] = ()) -> tuple[str, ...]:
        """Paths that differ from HEAD or are untracked, both sides of a rename; without the ignored paths."""
        done = self.git("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=none")
        ignored = tuple(ignoring)
        return tuple(path for path in changed(done.fields) if not any(is_at_or_in(path, place) for place in ignored))


def find_repository(root: Path) -> Repository | None:
    """None without a repository. A git that is missing, too old, or refuses, is an error."""
    root = root.resolve()
    place = Place(root)
    top = git(place, "rev-parse", "--show-toplevel", accept=())
    if top.code and "not a git repository" in top.err:
        return None
    _refuse_old(place)
    if top.code:
        _refuse_bare(root, top)
    git_dir = git(place, "rev-parse", "--absolute-git-dir").text
    common = git(place, "rev-parse", "--path-format=absolute", "--git-common-dir").text
    settings = _settings(git(place, "config", "-z", "--get-regexp", _SETTINGS, accept=(0, 1)).fields)
    prefix = root.relative_to(Path(top.text).resolve()).as_posix()
    return Repository(
        root=root,
        top=Path(top.text).resolve(),
        git_dir=Path(git_dir),
        common_dir=Path(common).resolve(),
        prefix="" if prefix == "." else prefix,
        identity=tuple(_identity(settings)),
        excludes=_excludes(settings.get("core.excludesfile")),
    )


def is_at_or_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def changed(fields: Iterable[str]) -> Iterator[str]:
    """The paths of `git status --porcelain=v2 -z`."""
    rest = iter(fields)
    for field in rest:
        kind = field[:1]
        if kind == "1":
            yield field.split(" ", 8)[8]
        elif kind == "2":
            yield field.split(" ", 9)[9]
            yield next(rest)
        elif kind == "u":
            yield field.split(" ", 10)[10]
        elif kind in {"?", "!"}:
            yield field[2:].rstrip("/")


def _head_in_files(repository: Repository) -> Head | None:
    """HEAD as a plain file; None if refs are packed or in a table. Saves one process for each call."""
    content = _read(repository.git_dir / "HEAD")
    if _COMMIT.fullmatch(content):
        return Head(content, None)
    name = content.removeprefix("ref: ")
    if name == content or not name.startswith("refs/heads/"):
        return None
    commit = _read(repository.common_dir / name)
    return Head(commit, name) if _COMMIT.fullmatch(commit) else None


def _head_from_git(repository: Repository) -> Head:
    branch = repository.git("symbolic-ref", "--quiet", "HEAD", accept=(0, 1))
    commit = repository.git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1))
    return Head(commit.text or None, branch.text or None)


def _read(path: Path) -> str:
    try:
        return path.read_text().removesuffix("\n")
    except (OSError, UnicodeDecodeError):
        return ""


def _refuse_old(place: Place) -> None:
    text = git(place, "version").text
    numbers = re.search(r"(\d+)\.(\d+)", text)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        raise Unavailable(f"{text} is too old", hint="Install git 2.38 or newer.")


def _refuse_bare(root: Path, done: Done) -> None:
    if "must be run in a work tree" in done.err:
        raise Unavailable(f"{root} is in a repository without a work tree", hint="Work in a checkout of it.")
    raise Unavailable(f"git refuses {root}: {done.complaint}", hint="See `git status` there.")


def _settings(fields: Iterable[str]) -> dict[str, str]:
    pairs = (field.partition("\n") for field in fields)
    return {name: value for name, _, value in pairs}


def _identity(settings: dict[str, str]) -> Iterator[tuple[str, str]]:
    def is_known(role: str, field: str) -> bool:
        variables = [f"GIT_{role}_{field}", *(["EMAIL"] if field == "EMAIL" else [])]
        names = [f"{role}.{field}".lower(), f"user.{field}".lower()]
        return any(map(os.environ.get, variables)) or any(map(settings.get, names))

    for role in ("AUTHOR", "COMMITTER"):
        for field, ours in (("NAME", "aot"), ("EMAIL", "aot@localhost")):
            if not is_known(role, field):
                yield f"GIT_{role}_{field}", ours


def _excludes(configured: str | None) -> Path | None:
    default = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "git", "ignore")
    path = Path(os.path.expanduser(configured or default))  # noqa: PTH111 - never raises
    return path if path.is_file() else None


def switch(repository: Repository, name: str) -> None:
    """Switches to this branch, and makes it if there is none. Git refuses if uncommitted changes block it."""
    if repository.git("check-ref-format", "--branch", name, accept=()).code:
        raise Unavailable(f"{name!r} cannot be the name of a branch")
    head = repository.head()
    if head.branch == f"refs/heads/{name}":
        return
    is_there = repository.git("show-ref", "--verify", "--quiet", f"refs/heads/{name}", accept=(0, 1)).code == 0
    done = repository.git("switch", *(() if is_there else ("--create",)), name, accept=())
    if done.code:
        raise Unavailable(f"the branch {name} cannot be checked out: {done.complaint}", hint="See `git status`.")
