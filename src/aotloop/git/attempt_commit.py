"""The commit of an attempt: the difference between the files in its worktree and the commit where it started.

The agent's own use of git (commits, branches, an unfinished rebase, a removed repository) makes no difference. The
result is one commit on top of that start, on no branch.
"""

from __future__ import annotations

import os
import posixpath
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import msgspec

from aotloop.errors import Unavailable
from aotloop.git.checkout.fast_forward import Blocked, Landed, Moved, landing, other_branch
from aotloop.git.command import Place, git
from aotloop.git.objects import Change, commit_tree, message_of
from aotloop.git.repository import Head, Repository, is_at_or_in
from aotloop.git.worktrees import worktree
from aotloop.git.worktrees.lifecycle import remove_tree
from aotloop.git.worktrees.strays import remove_worktrees_within
from aotloop.git.worktrees.submodules import MODULES, SUBMODULE, changed_inside, made_only_here
from aotloop.git.worktrees.worktree import Desk
from aotloop.text.patterns import matching

ATTEMPTS = "refs/aot/attempts/"

_OF_FILES = re.compile(r"unable to (add|index)|invalid path|Permission denied")
_OF_THE_MACHINE = re.compile(r"No space left|Disk quota|Read-only file system|\.lock'")
_LONGEST_ID = 100


class NotTakeable(ValueError):  # noqa: N818 - reads as a sentence where it is caught
    """Why the files of an attempt cannot become a commit, in words."""


class Committed(msgspec.Struct, frozen=True):
    sha: str | None
    """None: nothing differs from the start."""
    base: str
    paths: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Submodules with changes in them that no commit of this repository can carry."""


def commit(desk: Desk, message: str, trailers: Mapping[str, str]) -> Committed:
    """Raises NotTakeable."""
    found = _take_in(desk)
    if not found:
        return Committed(None, desk.base, (), _left_out(desk))
    if only_here := made_only_here(desk, found):
        raise NotTakeable(f"commits in submodules go with the worktree: {', '.join(only_here)}")
    paths = tuple(change.path for change in found)
    return Committed(_commit(desk, message_of(message, trailers)), desk.base, paths, _left_out(desk))


def left(desk: Desk, *, atom: str, attempt: str | int) -> Committed:
    """A commit of the files that an attempt without a result left; it is for no branch. Raises NotTakeable."""
    paths = changed_paths(desk)
    sha = _commit(desk, message_of(f"what attempt {attempt} on {atom} left", {})) if paths else None
    return Committed(sha, desk.base, paths)


def changed_paths(desk: Desk) -> tuple[str, ...]:
    """A renamed file is two paths. Ignored files do not count as changes. Raises NotTakeable."""
    return tuple(change.path for change in _take_in(desk))


def differences(desk: Desk, commit: str) -> tuple[str, ...]:
    """Paths that differ between the worktree's start and this commit."""
    words = ("diff-tree", "-r", "--name-only", "-z", "--no-renames", "--ignore-submodules=none", commit, desk.base)
    return desk.git(*words).fields


def _take_in(desk: Desk) -> list[Change]:
    """Takes all files as they are into our index."""
    if not desk.is_there:
        raise NotTakeable("its worktree is gone")
    if not (desk.git_dir / "commondir").is_file():
        raise NotTakeable("what git keeps of its worktree is gone")
    remove_worktrees_within(desk)
    if desk.git("add", "--all", accept=()).code:
        _absorb_repositories(desk)
        _add_all(desk)
    found = desk.changes()
    if any(map(_is_new_repository, found)) and _absorb_repositories(desk):
        desk.git("add", "--all")
        found = desk.changes()
    return worktree.without(desk, found)


def refuse(paths: Iterable[str], protect: Iterable[str], never: Iterable[str], prefix: str = "") -> tuple[str, ...]:
    """The changed paths that no agent may change.

    `protect` are patterns, `never` are paths with their content. Both are relative to the project, which is at
    `prefix`.
    """
    seen = {path: posixpath.relpath(path, prefix or ".") for path in paths}
    forbidden = set(matching(seen.values(), protect))
    closed = [path.casefold() for path in never]
    return tuple(
        path
        for path, there in seen.items()
        if there in forbidden
        or ".git" in path.casefold().split("/")
        or any(is_at_or_in(there.casefold(), folder) for folder in closed)
    )


def keep(repository: Repository, work: Desk | str, *, atom: str, attempt: str | int) -> str | None:
    """Keeps an attempt's work, committed or not, under a ref that is no branch; None: there was no work."""
    sha = left(work, atom=atom, attempt=attempt).sha if isinstance(work, Desk) else work
    if sha is None:
        return None
    name = ref_of(atom, attempt)
    repository.git("update-ref", "-m", "aot: keep", name, sha)
    return name


def ref_of(atom: str, attempt: str | int) -> str:
    return f"{ATTEMPTS}{name_of(atom, attempt)}"


def name_of(atom: str, attempt: str | int) -> str:
    """Ids may have any characters and any length; names of refs and folders may not."""
    text = _encoded(atom)
    if len(text) > _LONGEST_ID:
        text = f"{text[: _LONGEST_ID // 2]}-{sha256(atom.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    return f"{text}-{_encoded(str(attempt))}"


def _encoded(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass").replace(".", "%2E").replace("~", "%7E")


def _commit(desk: Desk, message: str) -> str:
    return commit_tree(desk.place, desk.git("write-tree").text, desk.base, message)


def _add_all(desk: Desk) -> None:
    done = desk.git("add", "--all", accept=())
    if done.code and _OF_FILES.search(done.err) and not _OF_THE_MACHINE.search(done.err):
        raise NotTakeable(done.err.strip().partition("\n")[0].removeprefix("error: ").removeprefix("fatal: "))
    if done.code:
        desk.git("add", "--all")


def _is_new_repository(change: Change) -> bool:
    return change.mode == SUBMODULE != change.mode_before


def _absorb_repositories(desk: Desk) -> bool:
    """Turns repositories that the agent made among its files into ordinary files; returns whether there were any.

    Git would record a commit that exists nowhere else, and lose the content. A submodule has a file for `.git`, not a
    folder, and stays.
    """
    desk.git("read-tree", desk.base)
    found = list(_repositories_in(desk))
    for repository in found:
        remove_tree(repository)
    return bool(found)


def _repositories_in(desk: Desk) -> Iterator[Path]:
    others = desk.git("ls-files", "-z", "--others", "--directory", "--exclude-standard").fields
    for other in others:
        if other.endswith("/"):
            for folder, names, _ in os.walk(desk.path / other):
                if ".git" in names:
                    names.remove(".git")
                    yield Path(folder, ".git")


def _left_out(desk: Desk) -> tuple[str, ...]:
    return changed_inside(desk) if (desk.path / MODULES).is_file() else ()


def commit_here(
    repository: Repository, head: Head, paths: Sequence[str], message: str, *, patience: float
) -> Landed | Moved | Blocked:
    """`head`: the commit that the caller expects to be checked out."""
    if embedded := [path for path in paths if (repository.top / path / ".git").is_dir()]:
        raise Unavailable(f"{embedded[0]} is a repository of its own", hint="Remove its .git folder, or ignore it.")
    with landing(repository, patience) as _, tempfile.TemporaryDirectory(prefix="aot-commit-") as folder:
        now = repository.head()
        if now.branch != head.branch:
            return Blocked(other_branch(head.branch, now.branch))
        if now.commit != head.commit:
            return Moved(now.commit)
        place = Place(repository.top, variables=repository.identity)
        if present := [path for path in paths if os.path.lexists(repository.top / path)]:
            git(place, "add", "--intent-to-add", *_listed(Path(folder, "present"), present))
        words = ("commit", "--quiet", "--only", "--no-verify", "--cleanup=verbatim", "--file=-")
        git(place, *words, *_listed(Path(folder, "all"), paths), stdin=message.encode("utf-8", "replace"))
        commit = repository.head().commit
        if commit is None:
            raise AssertionError("git has just committed something")
        return Landed(commit)


def _listed(file: Path, paths: Sequence[str]) -> tuple[str, str]:
    """A file holds the list: it may be too long for a command line."""
    file.write_bytes(b"".join(b":(top,literal)" + os.fsencode(path) + b"\0" for path in paths))
    return f"--pathspec-from-file={file}", "--pathspec-file-nul"
