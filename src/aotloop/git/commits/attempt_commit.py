"""The commit of an attempt: the difference between the files in its worktree and the commit where it started.

The agent's own use of git (commits, branches, an unfinished rebase, a removed repository) makes no difference. The
result is one commit on top of that start, on no branch.
"""

from __future__ import annotations

import os
import posixpath
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from aotloop.errors import Unavailable
from aotloop.git.checkout.fast_forward import Blocked, Landed, Moved, landing, other_branch
from aotloop.git.command import Place, git
from aotloop.git.commits.objects import commit_tree, message_of
from aotloop.git.repository import Head, Repository, is_at_or_in
from aotloop.git.trees.intake import Taken, refuse_governed, take_in
from aotloop.git.trees.survey import NotTakeable
from aotloop.git.worktrees.worktree import Worktree, without_noise
from aotloop.text.patterns import matching

ATTEMPTS = "refs/aot/attempts/"

_LONGEST_ID = 100


class Committed(msgspec.Struct, frozen=True):
    sha: str | None
    """None: nothing differs from the start."""
    base: str
    paths: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Submodules with changes in them that no commit of this repository can carry."""


def commit(worktree: Worktree, message: str, trailers: Mapping[str, str]) -> Committed:
    """Raises NotTakeable."""
    taken = _taken(worktree)
    left_out = taken.submodules.changed_inside()
    if not taken.changes:
        return Committed(None, worktree.base, (), left_out)
    paths = tuple(change.path for change in taken.changes)
    return Committed(_commit(worktree, message_of(message, trailers)), worktree.base, paths, left_out)


def left(worktree: Worktree, *, atom: str, attempt: str | int) -> Committed:
    """A commit of the files that an attempt without a result left; it is for no branch. Raises NotTakeable."""
    paths = changed_paths(worktree)
    sha = _commit(worktree, message_of(f"what attempt {attempt} on {atom} left", {})) if paths else None
    return Committed(sha, worktree.base, paths)


def changed_paths(worktree: Worktree) -> tuple[str, ...]:
    """A renamed file is two paths. Ignored files do not count as changes. Raises NotTakeable."""
    return tuple(change.path for change in _taken(worktree).changes)


def differences(worktree: Worktree, commit: str) -> tuple[str, ...]:
    """Paths that differ between the worktree's start and this commit."""
    words = ("diff-tree", "-r", "--name-only", "-z", "--no-renames", "--ignore-submodules=none", commit, worktree.base)
    return worktree.git(*words).fields


def _taken(worktree: Worktree) -> Taken:
    """Takes all files as they are into our index."""
    if not worktree.is_there:
        raise NotTakeable("its worktree is gone")
    taken = take_in(worktree.tree, worktree.base)
    found = without_noise(worktree, taken.changes)
    refuse_governed(worktree.tree, worktree.base, found)
    return replace(taken, changes=found)


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


def keep(repository: Repository, work: Worktree | str, *, atom: str, attempt: str | int) -> str | None:
    """Keeps an attempt's work, committed or not, under a ref that is no branch; None: there was no work."""
    sha = left(work, atom=atom, attempt=attempt).sha if isinstance(work, Worktree) else work
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


def _commit(worktree: Worktree, message: str) -> str:
    return commit_tree(worktree.tree.place, worktree.git("write-tree").text, worktree.base, message)


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
        place = Place(repository.top, variables=repository.checkout_variables)
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
