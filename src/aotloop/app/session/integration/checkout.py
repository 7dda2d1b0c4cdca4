"""Work done in the checkout itself: changes of paths that the atom touches become one commit."""

from __future__ import annotations

import posixpath
from pathlib import Path

from aotloop.app.resolution import resolve_parents
from aotloop.app.session.integration.conditions import problem_at, protected_paths_problem, title_for, trailers_of
from aotloop.app.session.integration.integration_result import Integrated, Job, Refused
from aotloop.app.session.integration.integration_steps import PATIENCE, SessionSteps, bring, landed_before, resolve
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed, Moved
from aotloop.git.commits.attempt_commit import commit_here
from aotloop.git.commits.objects import message_of
from aotloop.git.repository import Head, Repository, find_repository
from aotloop.statefile.durable import our_files
from aotloop.statefile.locate import project_root
from aotloop.text.patterns import matching

WORKTREES = ".claude/worktrees"
"""The folder of the project in which the client makes worktrees; no ignore file names it."""


def never_work(state_file: str, repository: Repository) -> list[str]:
    """Paths from the top of the repository."""
    prefix = f"{repository.prefix}/" if repository.prefix else ""
    ours = [f"{prefix}{path}" for path in our_files(state_file, str(repository.root))]
    return [*ours, WORKTREES, f"{prefix}{WORKTREES}"]


def work_in_progress(state_file: str, root: Path) -> tuple[str, ...]:
    """Uncommitted changes; none where there is no repository."""
    repository = find_repository(root)
    return repository.dirty(never_work(state_file, repository)) if repository is not None else ()


_ATTEMPT = "in-place"


def take_from_checkout(job: Job, repository: Repository | None) -> Integrated | Refused:
    if job.atom.status == "resolved":
        return Integrated(was_done_before=True)
    attempt = f"{_ATTEMPT}-{job.loop.control.epoch}-{job.atom.attempts}"
    changed = repository.dirty(never_work(job.store.path, repository)) if repository is not None else ()
    if repository is not None and (refused := protected_paths_problem(job, repository, changed)) is not None:
        return refused
    if (refused := problem_at(job, Path(project_root(job.store.path)))) is not None:
        return refused
    mine = _touched(job, repository, changed) if repository is not None else ()
    job = job.with_artifacts(mine)
    if repository is None or not mine:
        commit = landed_before(repository, job, attempt) if repository is not None else None
        effects = resolve(job, commit)
    else:
        done = bring(_CheckoutSteps(job, repository, mine, attempt))
        if isinstance(done, Refused):
            return done
        commit, effects = done
    return Integrated(
        commit=commit,
        resolution=resolve_parents(job.store, job.atom.id, effects, job.permit),
        left=tuple(path for path in changed if path not in mine),
    )


def _touched(job: Job, repository: Repository, changed: tuple[str, ...]) -> tuple[str, ...]:
    if not job.atom.touches:
        return changed
    seen = {posixpath.relpath(path, repository.prefix or "."): path for path in changed}
    return tuple(seen[path] for path in matching(seen, job.atom.touches))


class _CheckoutSteps(SessionSteps[Head]):
    """Paths of the checkout become one commit on the branch."""

    def __init__(self, job: Job, repository: Repository, paths: tuple[str, ...], attempt: str) -> None:
        super().__init__(job, repository)
        self._paths = paths
        self._message = message_of(title_for(job), trailers_of(job, attempt))

    async def prepare(self) -> Head | Landed | Conflicting:
        return self.repository.head()

    def land_now(self, ready: Head) -> Landed | Moved | Blocked:
        return commit_here(self.repository, ready, self._paths, self._message, patience=PATIENCE)
