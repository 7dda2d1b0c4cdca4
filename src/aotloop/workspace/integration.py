"""What an attempt did reaches the branch as one commit on top of HEAD, merged in no work tree, and then all at once."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aotloop.workspace.attempts import Committed
from aotloop.workspace.git import LOCK_PATIENCE
from aotloop.workspace.history import Integrated, commits_of
from aotloop.workspace.landing import Blocked, Landed, Moved, Step, landing
from aotloop.workspace.objects import commit_tree, merge, message_of, nothing
from aotloop.workspace.repository import Repository


class Prepared(msgspec.Struct, frozen=True):
    head: str | None
    """Where it can land; None: in a repository without commits."""
    commit: str
    is_fast_forward: bool
    """HEAD is where the attempt started: what was checked there need not be checked again."""


class Conflict(msgspec.Struct, frozen=True):
    paths: tuple[str, ...]
    commits: tuple[Integrated, ...]
    """What changed these paths on the branch meanwhile, newest first."""


def prepare(
    repository: Repository,
    work: Committed | str,
    message: str | None = None,
    trailers: Mapping[str, str] | None = None,
) -> Prepared | Conflict:
    """Without a message, the attempt's own message and trailers are taken."""
    sha, base = _attempt(repository, work)
    head = repository.head().commit
    if head == base and message is None:
        return Prepared(head, sha, is_fast_forward=True)
    is_fast_forward = head == base or (head is None and base == nothing(repository))
    tree = f"{sha}^{{tree}}"
    if not is_fast_forward:
        merged = merge(repository, base=base, ours=head or nothing(repository), theirs=sha, is_child=True)
        if merged.conflicts:
            return Conflict(merged.conflicts, tuple(commits_of(repository, since=base, paths=merged.conflicts)))
        tree = merged.tree
    text = _message(repository, sha) if message is None else message_of(message, trailers or {})
    return Prepared(head, commit_tree(repository.place, tree, head, text), is_fast_forward)


def land(
    repository: Repository, prepared: Prepared, branch: str | None, *, patience: float = LOCK_PATIENCE
) -> Landed | Moved | Blocked:
    """Moves the person's checkout there, if it is where it was prepared for, and nothing stands in the way."""
    with landing(repository, patience) as one:
        return one.go(Step(prepared.head, prepared.commit, branch), lock_patience=patience)


def _attempt(repository: Repository, work: Committed | str) -> tuple[str, str]:
    if isinstance(work, str):
        sha, base = repository.git("rev-parse", f"{work}^{{commit}}", f"{work}^").text.split("\n")
        return sha, base
    if work.sha is None:
        raise AssertionError("an attempt that did nothing is not integrated")
    return work.sha, work.base


def _message(repository: Repository, sha: str) -> str:
    return repository.git("log", "-1", "--format=%B", sha).text
