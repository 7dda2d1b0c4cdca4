"""Work done in a worktree: one commit of it, merged off-tree with the branch, checked again if that moved."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop import app
from aotloop.core.effects import Effect
from aotloop.errors import AotError
from aotloop.session.checking import problem_at, problem_when_merged
from aotloop.session.landing import PATIENCE, land_and_resolve, landed_before, require_wanted, resolve
from aotloop.session.outcomes import Integrated, Job, Refused
from aotloop.session.places import WORKTREES
from aotloop.session.terms import title_of, trailers_of, trespass
from aotloop.workspace import attempts, integration
from aotloop.workspace.attempts import Committed
from aotloop.workspace.desks import Desk
from aotloop.workspace.guests import dismiss, guest_at
from aotloop.workspace.landing import Moved
from aotloop.workspace.repository import Repository, is_at_or_in


def take_from_worktree(job: Job, repository: Repository, path: Path) -> Integrated | Refused:
    desk = guest_at(repository, path)
    try:
        attempt, work = _committed(job, desk)
    except attempts.NotTakeable as why:
        return Refused(why="blocked", reason=f"what lies in {path} cannot be committed: {why}")
    before = landed_before(repository, job, attempt)
    if job.atom.status == "resolved":
        return _again(job, desk, work, before)
    if before is None and (refused := _objection(job, repository, desk, work)) is not None:
        return refused
    if before is not None or work.sha is None:
        effects, commit = resolve(job, before), before
    else:
        attempts.keep(repository, work.sha, atom=job.atom.id, attempt=attempt)
        landed = _landed(job, repository, work)
        if isinstance(landed, Refused):
            return landed
        commit, effects = landed
    return Integrated(
        commit=commit,
        resolution=app.resolve_parents(job.store, job.atom.id, effects, job.permit),
        was_done_before=before is not None,
        worktree_removed=_removed(desk),
        left=work.left_out,
    )


def _committed(job: Job, desk: Desk) -> tuple[str, Committed]:
    """The attempt is known by what it did: the same work has the same name, and more work another."""
    desk.git("read-tree", desk.base)  # the index of ours, so that what is tracked though it is ignored is not missed
    attempts.changed_paths(desk)
    attempt = f"{desk.path.name}-{desk.git('write-tree').text[:12]}"
    return attempt, attempts.commit(desk, title_of(job), trailers_of(job, attempt))


def _again(job: Job, desk: Desk, work: Committed, before: str | None) -> Integrated:
    if before is None and work.sha is not None:
        raise AotError(
            f"{job.atom.id} is resolved already, by other work; what lies in {desk.path} was not taken",
            hint="If it is still wanted, it is the work of another atom.",
        )
    return Integrated(commit=before, was_done_before=True, worktree_removed=_removed(desk))


def _objection(job: Job, repository: Repository, desk: Desk, work: Committed) -> Refused | None:
    if (refused := trespass(job, repository, work.paths)) is not None:
        return refused
    return problem_at(job, desk.cwd)


def _landed(job: Job, repository: Repository, work: Committed) -> tuple[str, list[Effect]] | Refused:
    while True:
        require_wanted(job.store.load(), job)  # a conflict, or a check that takes long, would be for nothing
        branch = repository.head().branch
        ready = integration.prepare(repository, work)
        if isinstance(ready, integration.Conflict):
            return _clash(ready)
        if not ready.is_fast_forward and (refused := problem_when_merged(job, repository, ready.commit)) is not None:
            return refused
        done = land_and_resolve(job, lambda: integration.land(repository, ready, branch, patience=PATIENCE))  # noqa: B023
        if not isinstance(done, Moved):
            return done


def _clash(conflict: integration.Conflict) -> Refused:
    atoms = tuple(dict.fromkeys(one.atom for one in conflict.commits))
    reason = f"it conflicts with what {', '.join(atoms) or 'others'} contributed, in {', '.join(conflict.paths)}"
    return Refused(why="conflict", reason=reason, paths=conflict.paths, atoms=atoms)


def _removed(desk: Desk) -> bool:
    """Only what the client made for one agent, which is done; and not from under whoever calls us."""
    folder = desk.path.resolve()
    homes = {(place / WORKTREES).resolve() for place in (desk.repository.top, desk.repository.root)}
    if folder.parent not in homes or is_at_or_in(os.path.realpath(Path.cwd()), str(folder)):
        return False
    return dismiss(desk, f"worktree-{folder.name}")
