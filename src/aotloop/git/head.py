"""The commit that is checked out, read from git's own files; git is asked only if these are not clear.

To start git takes longer than all other work of a hook.
"""

from __future__ import annotations

import os

_REFS_OF_A_WORKTREE = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
_DIGITS = frozenset("0123456789abcdef")
_LENGTHS = (40, 64)
_LONGEST_CHAIN = 5
_LONGEST_FILE = 1 << 26


class _NotPlainError(Exception):
    """Only git knows the answer."""


def head_commit(folder: str) -> str | None:
    """As `aotloop.git.command.head_of`; None where there is no repository or no commit."""
    try:
        return _read(folder)
    except (_NotPlainError, OSError, ValueError):
        from aotloop.git.command import head_of  # noqa: PLC0415 - see the first line

        return head_of(folder)


def git_dir_of(folder: str) -> str | None:
    """Git's own folder of the checkout that contains this folder; None: there is none, or only git knows."""
    try:
        return _git_dir(os.path.realpath(folder))
    except (_NotPlainError, OSError):
        return None


def checkout_of(folder: str) -> str | None:
    """The nearest folder, this one or above, with git's entry; None: there is none.

    Files that look like a repository without a work tree are passed by: a project may contain such files.
    """
    folder = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _read(folder: str) -> str | None:
    git_dir = _git_dir(os.path.realpath(folder))
    if git_dir is None:
        return None
    common = git_dir
    if os.path.lexists(os.path.join(git_dir, "commondir")):
        common = os.path.join(git_dir, _first_line(os.path.join(git_dir, "commondir")))
    if os.stat(common).st_uid != os.geteuid() or os.path.isdir(os.path.join(common, "reftable")):
        raise _NotPlainError  # git may refuse another user's repository
    if not (os.path.isdir(os.path.join(common, "objects")) and os.path.isdir(os.path.join(common, "refs"))):
        raise _NotPlainError
    value = _first_line(os.path.join(git_dir, "HEAD"))
    for _ in range(_LONGEST_CHAIN):
        if not value.startswith("ref:"):
            return _commit(value)
        name = value.removeprefix("ref:").strip()
        if not name.startswith("refs/") or ".." in name:
            raise _NotPlainError
        found = _ref(git_dir if name.startswith(_REFS_OF_A_WORKTREE) else common, common, name)
        if found is None:
            return None  # a branch without a commit
        value = found
    raise _NotPlainError


def _git_dir(folder: str) -> str | None:
    """Searches upwards from the folder; a `.git` that is a file names another place."""
    while True:
        candidate = os.path.join(folder, ".git")
        if os.path.isdir(candidate):
            return candidate
        if os.path.lexists(candidate):
            pointer = _first_line(candidate)
            if not pointer.startswith("gitdir:"):
                raise _NotPlainError
            return os.path.join(folder, pointer.removeprefix("gitdir:").strip())
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _ref(place: str, common: str, name: str) -> str | None:
    try:
        return _first_line(os.path.join(place, name))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return _packed(os.path.join(common, "packed-refs"), name)


def _packed(path: str, name: str) -> str | None:
    try:
        with open(path, "rb") as file:
            content = file.read(_LONGEST_FILE)
    except FileNotFoundError:
        return None
    wanted = b" " + os.fsencode(name)
    for line in content.splitlines():
        if line.endswith(wanted) and not line.startswith((b"#", b"^")):
            return line[: -len(wanted)].decode("ascii")
    return None


def is_full(commit: str) -> bool:
    """Whether it is the whole name of a commit, and not a short form or a ref."""
    return len(commit) in _LENGTHS and _DIGITS.issuperset(commit)


def _commit(value: str) -> str:
    if not is_full(value):
        raise _NotPlainError
    return value


def _first_line(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.readline(10_000).strip()
