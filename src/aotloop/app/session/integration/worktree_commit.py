"""Work done in a worktree: one commit of it, merged off-tree with the branch, checked again if that moved."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.app.resolution import resolve_parents
from aotloop.app.session.integration.checkout import WORKTREES
from aotloop.app.session.integration.conditions import (
    problem_of_commit,
    protected_paths_problem,
    title_for,
    trailers_of,
)
from aotloop.app.session.integration.integration_result import Integrated, Job, Refused
from aotloop.app.session.integration.integration_steps import (
    PATIENCE,
    SessionSteps,
    bring,
    landed_before,
    require_wanted,
    resolve,
)
from aotloop.errors import AotError
from aotloop.execution.integration import outcome
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed, Moved
from aotloop.execution.verification import Found
from aotloop.git.commits import attempt_commit, integration
from aotloop.git.commits.attempt_commit import Committed
from aotloop.git.repository import Repository, is_at_or_in
from aotloop.git.trees.survey import NotTakeable
from aotloop.git.worktrees.foreign import dismiss, guest_at
from aotloop.git.worktrees.worktree import Worktree


def take_from_worktree(job: Job, repository: Repository, path: Path) -> Integrated | Refused:
    worktree = guest_at(repository, path)
    try:
        attempt, work = _committed(job, worktree)
    except NotTakeable as why:
        return Refused(why="blocked", reason=f"what lies in {path} cannot be committed: {why}")
    job = job.with_artifacts(work.paths)
    before = landed_before(repository, job, attempt)
    if job.atom.status == "resolved":
        return _again(job, worktree, work, before)
    if before is None and (refused := _objection(job, repository, worktree, work)) is not None:
        return refused
    if before is not None or work.sha is None:
        effects, commit = resolve(job, before), before
    else:
        attempt_commit.keep(repository, work.sha, atom=job.atom.id, attempt=attempt)
        landed = bring(_WorktreeSteps(job, repository, work))
        if isinstance(landed, Refused):
            return landed
        commit, effects = landed
    return Integrated(
        commit=commit,
        resolution=resolve_parents(job.store, job.atom.id, effects, job.permit),
        was_done_before=before is not None,
        worktree_removed=_removed(worktree),
        left=work.left_out,
    )


def _committed(job: Job, worktree: Worktree) -> tuple[str, Committed]:
    """The name of the attempt comes from its work: the same work has the same name, other work another name."""
    worktree.git(
        "read-tree", worktree.base
    )  # the index of ours, so that what is tracked though it is ignored is not missed
    attempt_commit.changed_paths(worktree)
    attempt = f"{worktree.path.name}-{worktree.git('write-tree').text[:12]}"
    return attempt, attempt_commit.commit(worktree, title_for(job), trailers_of(job, attempt))


def _again(job: Job, worktree: Worktree, work: Committed, before: str | None) -> Integrated:
    if before is None and work.sha is not None:
        raise AotError(
            f"{job.atom.id} is resolved already, by other work; what lies in {worktree.path} was not taken",
            hint="If it is still wanted, it is the work of another atom.",
        )
    return Integrated(commit=before, was_done_before=True, worktree_removed=_removed(worktree))


def _objection(job: Job, repository: Repository, worktree: Worktree, work: Committed) -> Refused | None:
    if (refused := protected_paths_problem(job, repository, work.paths)) is not None:
        return refused
    return problem_of_commit(job, repository, work.sha or worktree.base)


class _WorktreeSteps(SessionSteps[integration.Prepared]):
    """One commit of a worktree, merged off-tree, and checked again if the branch has moved."""

    def __init__(self, job: Job, repository: Repository, work: Committed) -> None:
        super().__init__(job, repository)
        self._work = work
        self._branch: str | None = None

    async def prepare(self) -> integration.Prepared | Landed | Conflicting:
        require_wanted(self.job.store.load(), self.job)  # else a conflict, or a long check, would be for nothing
        self._branch = self.repository.head().branch
        ready = integration.prepare(self.repository, self._work)
        if isinstance(ready, integration.Conflict):
            atoms = tuple(dict.fromkeys(commit.atom for commit in ready.commits))
            return Conflicting(paths=ready.paths, names=atoms)
        return ready

    async def check(self, ready: integration.Prepared) -> outcome.Refused | None:
        when = "together with what was merged meanwhile, "
        problem = None if ready.is_fast_forward else problem_of_commit(self.job, self.repository, ready.commit, when)
        return outcome.Refused(reason=problem.reason, found=Found(holding=problem.holding)) if problem else None

    def land_now(self, ready: integration.Prepared) -> Landed | Moved | Blocked:
        return integration.land(self.repository, ready, self._branch, patience=PATIENCE)


def _removed(worktree: Worktree) -> bool:
    """Only a folder that the client made for one agent, and not while the caller works in it."""
    folder = worktree.path.resolve()
    homes = {(place / WORKTREES).resolve() for place in (worktree.repository.top, worktree.repository.root)}
    if folder.parent not in homes or is_at_or_in(os.path.realpath(Path.cwd()), str(folder)):
        return False
    return dismiss(worktree, f"worktree-{folder.name}")
