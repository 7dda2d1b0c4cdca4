"""The branch that was checked out when the run began: work lands on it, and is reverted from it.

All functions here block: do not call them in the thread of the event loop.
"""

from __future__ import annotations

from aotloop.errors import AotError, Unavailable
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed, Moved, Ready
from aotloop.execution.integration.protection import Protection
from aotloop.execution.journals.records import Work
from aotloop.git.checkout.fast_forward import landing, other_branch
from aotloop.git.commits import integration
from aotloop.git.commits.integration import commits_of, revert, standing_commits
from aotloop.git.commits.objects import contains
from aotloop.git.repository import Repository
from aotloop.git.worktrees.kept_work import kept_paths

_PATIENCE = 0.5


class Branch:
    def __init__(self, repository: Repository) -> None:
        with landing(repository):  # the unfinished step of a process that died is finished first
            head = repository.head()
        self.repository = repository
        self._ref = head.branch
        self._last = head.commit
        """Its commit when we began, or when we last moved it: in its history, unless a person resets it."""
        self._seen = head.commit
        self.landed: list[str] = []
        """The commits to which we moved it, in order."""

    @property
    def name(self) -> str | None:
        """None: a commit is checked out, and no branch."""
        return self._ref.removeprefix("refs/heads/") if self._ref is not None else None

    def head(self) -> str | None:
        """Its last commit; another branch may be checked out now."""
        now = self.repository.head()
        if now.branch == self._ref or self._ref is None:
            return now.commit
        return self.repository.git("rev-parse", "--verify", "--quiet", f"{self._ref}^{{commit}}").text

    def was_moved_by_others(self) -> bool:
        """Since the last call. It costs the reading of a file or two."""
        now = self.repository.head()
        before, self._seen = self._seen, now.commit if now.branch == self._ref else self._seen
        return self._seen not in (before, self._last)

    def prepare(self, work: Work) -> Ready | Conflicting:
        """Raises Unavailable if a person has checked out another branch, or has reset this one."""
        if work.commit is None:
            raise AssertionError("work that changed nothing is not merged")
        self._require_here()
        prepared = integration.prepare(self.repository, work.commit)
        if isinstance(prepared, integration.Conflict):
            names = tuple(dict.fromkeys(commit.atom for commit in prepared.commits))
            return Conflicting(paths=prepared.paths, names=names)
        needs_check = not (prepared.is_fast_forward and work.is_checked)
        return Ready(commit=prepared.commit, head=prepared.head, needs_check=needs_check)

    def land(self, ready: Ready) -> Landed | Moved | Blocked:
        """Quick, because others wait. A process that holds git's lock for longer blocks it like a person's edits."""
        prepared = integration.Prepared(ready.head, ready.commit, is_fast_forward=True)
        try:
            done = integration.land(self.repository, prepared, self._ref, patience=_PATIENCE)
        except AotError as error:
            return Blocked(error.message)
        if isinstance(done, Landed):
            self._note(done.commit)
        return done

    def take_back(self, names: tuple[str, ...], run_id: str, why: str) -> Landed | Conflicting | Blocked | None:
        """Reverts the work of these tasks; None: they have none on the branch. Raises Unavailable, as `prepare`."""
        while True:
            self._require_here()
            done = revert(self.repository, names, self._ref, run=run_id, why=why)
            if isinstance(done, integration.Conflict):
                later = tuple(dict.fromkeys(commit.atom for commit in done.commits if commit.atom not in names))
                return Conflicting(paths=done.paths, names=later)
            if isinstance(done, Landed):
                self._note(done.commit)
            if not isinstance(done, Moved):
                return done

    def withdraw(self, commit: str, run_id: str) -> Landed | Moved | Blocked:
        """Moves the branch back to before this commit of ours, if it is still the last one and was not published."""
        if all(ours.sha != commit for ours in standing_commits(self.repository, run_id)):
            return Blocked(f"{commit[:12]} was not made by this run")
        remotes = self.repository.git("for-each-ref", "--count=1", "--contains", commit, "refs/remotes").text
        if remotes:
            return Blocked(f"{commit[:12]} was pushed to a remote repository")
        before = self.repository.git("rev-parse", "--verify", f"{commit}^").text
        return self.land(Ready(commit=before, head=commit, needs_check=False))

    def _note(self, commit: str) -> None:
        self._last = commit
        self.landed.append(commit)

    def _require_here(self) -> None:
        """A person may have checked out another branch, or have removed our commits."""
        now = self.repository.head()
        if now.branch != self._ref:
            raise Unavailable(other_branch(self._ref, now.branch))
        if self._last is not None and now.commit != self._last and not self.contains(self._last):
            where = f"branch {self.name}" if self.name is not None else "what is checked out"
            raise Unavailable(f"{where} was reset: it does not contain {self._last[:12]} any more")

    # --- commits of earlier runs ---------------------------------------------------------------------------------

    def landed_before(self, work: Work, run_id: str) -> str | None:
        """The commit with which a run that died had landed it already."""
        return next(
            (commit.sha for commit in standing_commits(self.repository, run_id) if commit.attempt == str(work.attempt)),
            None,
        )

    def atoms_on_it(self, run_id: str) -> list[str]:
        """Atoms with work that is still on the branch."""
        return list(dict.fromkeys(commit.atom for commit in standing_commits(self.repository, run_id)))

    def last_attempt(self, run_id: str) -> int:
        numbers = (commit.attempt for commit in commits_of(self.repository, run=run_id))
        return max((int(number) for number in numbers if number and number.isdecimal()), default=0)

    def contains(self, commit: str) -> bool:
        return contains(self.repository, commit)

    def has(self, commit: str) -> bool:
        return self.repository.git("cat-file", "-e", f"{commit}^{{commit}}", accept=()).code == 0

    def paths_of(self, commit: str, *, atom: str, attempt: int, run_id: str) -> tuple[str, ...] | None:
        """The paths that this attempt changed; None: this commit is not the work of this attempt."""
        return kept_paths(self.repository, commit, atom=atom, attempt=attempt, run=run_id)

    def refused(self, paths: tuple[str, ...], protection: Protection) -> tuple[str, ...]:
        return protection.refused(paths, self.repository.prefix)
