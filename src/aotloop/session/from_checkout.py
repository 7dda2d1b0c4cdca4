"""Work done in the checkout itself: what differs there, of what the atom touches, becomes one commit.

Nothing tells here who changed what. An atom that says what it touches takes only that; one that does not takes all.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

from aotloop import app
from aotloop.core.effects import Effect
from aotloop.session.checking import problem_at
from aotloop.session.landing import PATIENCE, land_and_resolve, landed_before, resolve
from aotloop.session.outcomes import Integrated, Job, Refused
from aotloop.session.places import never_work
from aotloop.session.terms import title_of, trailers_of, trespass
from aotloop.statefile.locate import project_root
from aotloop.workspace.globs import matching
from aotloop.workspace.in_place import commit_here
from aotloop.workspace.landing import Moved
from aotloop.workspace.objects import message_of
from aotloop.workspace.repository import Repository

_ATTEMPT = "in-place"


def take_from_checkout(job: Job, repository: Repository | None) -> Integrated | Refused:
    if job.atom.status == "resolved":
        return Integrated(was_done_before=True)
    attempt = f"{_ATTEMPT}-{job.loop.control.epoch}-{job.atom.attempts}"
    changed = repository.dirty(never_work(job.store.path, repository)) if repository is not None else ()
    if repository is not None and (refused := trespass(job, repository, changed)) is not None:
        return refused
    if (refused := problem_at(job, Path(project_root(job.store.path)))) is not None:
        return refused
    mine = _touched(job, repository, changed) if repository is not None else ()
    if repository is None or not mine:
        commit = landed_before(repository, job, attempt) if repository is not None else None
        effects = resolve(job, commit)
    else:
        done = _committed(job, repository, mine, attempt)
        if isinstance(done, Refused):
            return done
        commit, effects = done
    return Integrated(
        commit=commit,
        resolution=app.resolve_parents(job.store, job.atom.id, effects, job.permit),
        left=tuple(path for path in changed if path not in mine),
    )


def _touched(job: Job, repository: Repository, changed: tuple[str, ...]) -> tuple[str, ...]:
    if not job.atom.touches:
        return changed
    seen = {posixpath.relpath(path, repository.prefix or "."): path for path in changed}
    return tuple(seen[path] for path in matching(seen, job.atom.touches))


def _committed(
    job: Job, repository: Repository, paths: tuple[str, ...], attempt: str
) -> tuple[str, list[Effect]] | Refused:
    message = message_of(title_of(job), trailers_of(job, attempt))
    while True:
        head = repository.head()
        done = land_and_resolve(job, lambda: commit_here(repository, head, paths, message, patience=PATIENCE))  # noqa: B023
        if not isinstance(done, Moved):
            return done
