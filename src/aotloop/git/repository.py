"""The person's repository and checkout, read without any change: not even the index is refreshed.

Paths of a repository are text relative to its top level, wherever the project lies in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.foreign_files import read_plain
from aotloop.git.command import PATIENCE, Done, Place, git
from aotloop.git.head import checkout_of, is_full
from aotloop.git.included_files import included_files
from aotloop.git.pinned_settings import Setting, effective, in_the_checkout, own_list, read_settings

OLDEST = (2, 38)
"""The first version that merges without a work tree."""

OWN = "aot"
"""The name of our folder in git's."""

_LARGEST = 1 << 20
_FOLDERS = (("--show-toplevel",), ("--absolute-git-dir",), ("--path-format=absolute", "--git-common-dir"))
_GLOBAL = "global"


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
    """Variables that name the author, as the user has configured it."""
    settings: tuple[Setting, ...] = ()
    """All settings of git, as they were at the start."""
    ignored: bytes = b""
    """The user's own list of ignored files, as it was."""
    attributes: bytes = b""
    """The user's own attributes, as they were."""

    @property
    def own_folder(self) -> Path:
        """Everything that we keep of our own, where agents cannot write."""
        return self.common_dir / OWN

    @property
    def included(self) -> tuple[Path, ...]:
        """Files in the checkout that git's settings include: a change of one is an order to git."""
        return included_files(self.settings, self.top, (self.common_dir, self.git_dir, self.top))

    @property
    def checkout_variables(self) -> tuple[tuple[str, str], ...]:
        """Variables for git in the person's checkout: nothing has to be searched for, no file in the home is read."""
        where = (("GIT_DIR", str(self.git_dir)), ("GIT_WORK_TREE", str(self.top)))
        lists = [Setting(_GLOBAL, f"core.{key}", str(path)) for key, path in self._lists()]
        return (*self.identity, *where, *in_the_checkout((*self.settings, *lists)))

    def _lists(self) -> Iterator[tuple[str, Path]]:
        """Where git finds the person's own lists: in the copies that a run has made, see `pin_lists`."""
        for key, content in (("excludesfile", self.ignored), ("attributesfile", self.attributes)):
            pinned = self.own_folder / key
            if not content:
                yield key, Path(os.devnull)
            elif pinned.is_file():
                yield key, pinned

    @property
    def place(self) -> Place:
        return Place(self.top, variables=(*self.checkout_variables, ("GIT_OPTIONAL_LOCKS", "0")))

    def git(
        self, *words: str, stdin: bytes = b"", accept: tuple[int, ...] = (0,), holding: tuple[int, ...] = ()
    ) -> Done:
        return git(self.place, *words, stdin=stdin, accept=accept, holding=holding)

    def head(self) -> Head:
        return _head_in_files(self) or _head_from_git(self)

    def dirty(self, ignoring: Iterable[str] = ()) -> tuple[str, ...]:
        """Paths that differ from HEAD or are untracked, both sides of a rename; without the ignored paths.

        Of a submodule only its commit counts: in it, git would do what the settings there say, which checks can write.
        """
        done = self.git("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty")
        ignored = tuple(ignoring)
        return tuple(path for path in changed(done.fields) if not any(is_at_or_in(path, place) for place in ignored))


OUR_IDENTITY = {"NAME": "aot", "EMAIL": "aot@localhost"}
"""The author of commits, if git does not know the person."""


def find_repository(root: Path) -> Repository | None:
    """None without a repository. A git that is missing, too old, or refuses, is an error."""
    root = root.resolve()
    folder = Path(checkout_of(str(root)) or root)
    settings = read_settings(folder)
    place = Place(folder, variables=tuple(in_the_checkout(settings)))
    told = git(place, "rev-parse", *chain.from_iterable(_FOLDERS), accept=())
    if told.code and "not a git repository" in told.err:
        return None
    _refuse_old(place)
    if told.code:
        _refuse_bare(root, told)
    top, git_dir, common = (Path(path).resolve() for path in _paths(place, told))
    _refuse_intruder(top)
    values = effective(settings)
    prefix = root.relative_to(top).as_posix()
    return Repository(
        root=root,
        top=top,
        git_dir=git_dir,
        common_dir=common,
        prefix="" if prefix == "." else prefix,
        identity=tuple(_identity(values)),
        settings=settings,
        ignored=own_list(values.get("core.excludesfile"), "ignore"),
        attributes=own_list(values.get("core.attributesfile"), "attributes"),
    )


def _paths(place: Place, told: Done) -> list[str]:
    """A path with a line break is told alone."""
    paths = told.text.split("\n")
    return paths if len(paths) == len(_FOLDERS) else [git(place, "rev-parse", *words).text for words in _FOLDERS]


def pin_lists(repository: Repository) -> None:
    """Copies the person's own lists to where no agent can change them."""
    for key, content in (("excludesfile", repository.ignored), ("attributesfile", repository.attributes)):
        if content:
            repository.own_folder.mkdir(parents=True, exist_ok=True)
            (repository.own_folder / key).write_bytes(content)


def unpin_lists(repository: Repository) -> None:
    for key in ("excludesfile", "attributesfile"):
        (repository.own_folder / key).unlink(missing_ok=True)


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
    if is_full(content):
        return Head(content, None)
    name = content.removeprefix("ref: ")
    if name == content or not name.startswith("refs/heads/"):
        return None
    commit = _read(repository.common_dir / name)
    return Head(commit, name) if is_full(commit) else None


def _head_from_git(repository: Repository) -> Head:
    branch = repository.git("symbolic-ref", "--quiet", "HEAD", accept=(0, 1))
    commit = repository.git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1))
    return Head(commit.text or None, branch.text or None)


def _read(path: Path) -> str:
    try:
        return read_plain(path, _LARGEST, follows=True).decode().removesuffix("\n")
    except UnicodeDecodeError:
        return ""


def _refuse_old(place: Place) -> None:
    text = git(place, "version").text
    numbers = re.search(r"(\d+)\.(\d+)", text)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        raise Unavailable(f"{text} is too old", hint="Install git 2.38 or newer.")


def _refuse_intruder(top: Path) -> None:
    """A check in a folder of a repository could make a repository there, with settings that run its programs."""
    outer = checkout_of(str(top.parent))
    words = ("ls-files", "-z", "--", f":(top,literal){os.path.relpath(top, outer or top)}/")
    if outer not in (None, str(top)) and git(Place(Path(outer or "")), *words, accept=(), longest=PATIENCE).out:
        raise Unavailable(
            f"{top} has a .git of its own, but its files belong to the repository in {outer}",
            hint=f"A command may have made {top / '.git'}: look at it, and remove it.",
        )


def _refuse_bare(root: Path, done: Done) -> None:
    if "must be run in a work tree" in done.err or "safe.bareRepository" in done.err:
        raise Unavailable(f"{root} is in a repository without a work tree", hint="Work in a checkout of it.")
    raise Unavailable(f"git refuses {root}: {done.complaint}", hint="See `git status` there.")


def _identity(values: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What the person's variables say stays, else what is configured, else our own name."""
    for role in ("AUTHOR", "COMMITTER"):
        for field, ours in OUR_IDENTITY.items():
            names = (f"{role}.{field}".lower(), f"user.{field}".lower())
            configured = next((values[name] for name in names if values.get(name)), None)
            if not os.environ.get(f"GIT_{role}_{field}"):
                fallback = os.environ.get("EMAIL") if field == "EMAIL" else None
                yield f"GIT_{role}_{field}", configured or fallback or ours


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
