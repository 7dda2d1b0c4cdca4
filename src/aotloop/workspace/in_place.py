"""What was done in the checkout itself becomes one commit on its branch: no file changes, nor what else is staged.

As with everything that lands, one at a time, and only on the branch and commit it was meant for.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from aotloop.errors import Unavailable
from aotloop.workspace.git import Place, git
from aotloop.workspace.landing import Blocked, Landed, Moved, landing, other_branch
from aotloop.workspace.repository import Head, Repository


def commit_here(
    repository: Repository, head: Head, paths: Sequence[str], message: str, *, patience: float
) -> Landed | Moved | Blocked:
    """`head`: what is checked out, as far as the caller knows."""
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
    """In a file: there may be more of them than fit on a command line."""
    file.write_bytes(b"".join(b":(top,literal)" + os.fsencode(path) + b"\0" for path in paths))
    return f"--pathspec-from-file={file}", "--pathspec-file-nul"
