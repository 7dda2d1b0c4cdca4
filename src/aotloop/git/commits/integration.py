"""Integration: an attempt's work reaches the branch as one commit on HEAD, which names its atom, attempt and run.

Work of given-up atoms is reverted by new commits, newest first: all of them or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from aotloop.git.checkout.fast_forward import Blocked, Landed, Moved, Step, landing, other_branch
from aotloop.git.command import LOCK_PATIENCE
from aotloop.git.commits.attempt_commit import Committed
from aotloop.git.commits.objects import (
    ATOM,
    ATTEMPT,
    REVERTS,
    RUN,
    commit_tree,
    decoded,
    known_parent,
    merge,
    message_of,
    nothing,
)
from aotloop.git.repository import Repository

_KEYS = (ATOM, ATTEMPT, RUN, REVERTS)
_FORMAT = "%H%x01%P" + "".join(f"%x01%(trailers:key={key},valueonly,separator=%x02)" for key in _KEYS)


_HISTORIES: dict[tuple[Path, str], list[Integrated]] = {}
"""By repository and commit; at most one."""


class Integrated(msgspec.Struct, frozen=True):
    sha: str
    parent: str | None
    atom: str
    attempt: str | None
    run: str | None
    reverts: str | None
    """The commit that this one reverts; None: this one is work."""


def commits_of(
    repository: Repository, since: str | None = None, run: str | None = None, paths: Iterable[str] = ()
) -> list[Integrated]:
    """Our commits on the checked out branch, newest first; reverts are among them."""
    head = repository.head().commit
    if head is None:
        return []
    found = _history(repository, head) if since is None and not paths else _logged(repository, head, since, paths)
    return [commit for commit in found if run is None or commit.run == run]


def _history(repository: Repository, head: str) -> list[Integrated]:
    """The last answer is kept: the history of a commit stays the same."""
    asked = (repository.common_dir, head)
    found = _HISTORIES.get(asked)
    if found is None:
        found = _logged(repository, head, None, ())
        _HISTORIES.clear()
        _HISTORIES[asked] = found
    return found


def _logged(repository: Repository, head: str, since: str | None, paths: Iterable[str]) -> list[Integrated]:
    place = ("--", *(f":(top,literal){path}" for path in paths))
    span = head if since is None else f"{since}..{head}"
    return list(
        _parsed(repository.git("log", "-z", "--topo-order", f"--format=tformat:{_FORMAT}", span, *place).fields)
    )


def standing_commits(repository: Repository, run: str) -> list[Integrated]:
    """The work of this run that is on the branch and was not reverted, newest first."""
    ours = commits_of(repository, run=run)
    reverted = {commit.reverts for commit in ours}
    return [commit for commit in ours if commit.reverts is None and commit.sha not in reverted]


def made_by(repository: Repository, commit: str) -> Integrated | None:
    """What the trailers of this commit say, on a branch or not; None: it is not ours."""
    done = repository.git("log", "-z", "-1", f"--format=tformat:{_FORMAT}", commit, "--")
    return next(_parsed(done.fields), None)


def _parsed(fields: Iterable[str]) -> Iterator[Integrated]:
    for field in fields:
        sha, parents, *values = field.split("\x01")
        # If there are several, the last one counts: ours are at the end.
        atom, attempt, run, reverts = (decoded(value.split("\x02")[-1]) if value else None for value in values)
        if atom is not None:
            yield Integrated(sha, parents.split(" ")[0] or None, atom, attempt, run, reverts)


class Prepared(msgspec.Struct, frozen=True):
    head: str | None
    """The HEAD on which it can land; None: in a repository without commits."""
    commit: str
    is_fast_forward: bool
    """HEAD is still the attempt's start: the earlier check is still valid."""


class Conflict(msgspec.Struct, frozen=True):
    paths: tuple[str, ...]
    commits: tuple[Integrated, ...]
    """Commits that changed these paths on the branch meanwhile, newest first."""


def prepare(
    repository: Repository,
    work: Committed | str,
    message: str | None = None,
    trailers: Mapping[str, str] | None = None,
) -> Prepared | Conflict:
    """Without a message, it uses the attempt's own message and trailers."""
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
    """Moves the person's checkout there, if HEAD is as expected and no local change blocks it."""
    with landing(repository, patience) as lander:
        return lander.go(Step(prepared.head, prepared.commit, branch), lock_patience=patience)


def _attempt(repository: Repository, work: Committed | str) -> tuple[str, str]:
    if isinstance(work, str):
        if (parent := known_parent(work)) is not None:
            return work, parent
        sha, base = repository.git("rev-parse", f"{work}^{{commit}}", f"{work}^").text.split("\n")
        return sha, base
    if work.sha is None:
        raise AssertionError("an attempt that did nothing is not integrated")
    return work.sha, work.base


def _message(repository: Repository, sha: str) -> str:
    return repository.git("log", "-1", "--format=%B", sha).text


def revert(
    repository: Repository,
    atoms: Iterable[str],
    branch: str | None,
    *,
    since: str | None = None,
    run: str | None = None,
    why: str = "",
) -> Landed | Moved | Conflict | Blocked | None:
    """None: these atoms have no work on the branch. Reverted work is known by its commit, not by its atom.

    `why` is for the history.
    """
    with landing(repository) as lander:
        now = repository.head()
        if now.branch != branch:  # the branch may hold no work of them, and then there is nothing to revert
            return Blocked(other_branch(branch, now.branch))
        head = now.commit
        known = commits_of(repository, since)
        reverted = {commit.reverts for commit in known}
        given_up = set(atoms)
        current = head
        for commit in known:
            is_ours = commit.reverts is None and (run is None or commit.run == run)
            if is_ours and commit.atom in given_up and commit.sha not in reverted:
                undone = _without(repository, str(current), commit, why)
                if isinstance(undone, Conflict):
                    return undone
                current = undone
        if current == head or current is None:
            return None
        return lander.go(Step(head, current, branch))


def _without(repository: Repository, current: str, commit: Integrated, why: str) -> str | Conflict:
    """A commit that undoes it; the current one, if there is nothing left to undo."""
    before = commit.parent or nothing(repository)
    merged = merge(repository, base=commit.sha, ours=current, theirs=before)
    if merged.conflicts:
        later = commits_of(repository, since=commit.sha, paths=merged.conflicts)
        return Conflict(merged.conflicts, (*later, commit))
    if merged.tree == repository.git("rev-parse", f"{current}^{{tree}}").text:
        return current
    trailers = {REVERTS: commit.sha, ATOM: commit.atom, **({RUN: commit.run} if commit.run else {})}
    text = message_of(f"Take back {commit.atom}\n\n{why}", trailers)
    return commit_tree(repository.place, merged.tree, current, text)
