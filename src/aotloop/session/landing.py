"""A result lands while the state file is locked and says that it is still wanted; the same write resolves the atom.

Whoever is killed in between has landed something that the file does not know of. The commit's trailers tell: called
again, it is found, and only the file is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from aotloop import app
from aotloop.core import events
from aotloop.core.checklist import check_of
from aotloop.core.effects import Effect
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import NotVerified
from aotloop.session.outcomes import Job, Refused
from aotloop.workspace.history import commits_of
from aotloop.workspace.landing import Blocked, Landed, Moved
from aotloop.workspace.repository import Repository

PATIENCE = 0.5
"""Seconds, while everybody else waits for the state file."""

_BUSY_PATIENCE, _PAUSE = 5.0, 0.2
"""Seconds to wait for a person's git, without keeping anybody from the state file."""

Land = Callable[[], Landed | Moved | Blocked]


class _NotLandedError(Exception):
    def __init__(self, why: Moved | Blocked) -> None:
        super().__init__()
        self.why = why


def landed_before(repository: Repository, job: Job, attempt: str) -> str | None:
    """The commit by which this very work is on the branch already, and has not been taken back."""
    ours = commits_of(repository, run=job.run_id)
    taken_back = {one.reverts for one in ours}
    mine = (one for one in ours if (one.atom, one.attempt) == (job.atom.id, attempt) and one.reverts is None)
    return next((one.sha for one in mine if one.sha not in taken_back), None)


def resolve(job: Job, commit: str | None) -> list[Effect]:
    return job.store.update(lambda loop: _resolved(loop, job, commit))


def land_and_resolve(job: Job, land: Land) -> tuple[str, list[Effect]] | Moved | Refused:
    """Moved: the branch did meanwhile, and it has to be made ready again."""
    landed: list[str] = []

    def change(loop: Loop) -> list[Effect]:
        _resolved(loop.snapshot(), job, None)  # refuses what is impossible before anything lands
        if not landed:  # this may run again, if a person saves the file meanwhile
            done = land()
            if not isinstance(done, Landed):
                raise _NotLandedError(done)
            landed.append(done.commit)
        return _resolved(loop, job, landed[0])

    deadline = time.monotonic() + _BUSY_PATIENCE
    while True:
        try:
            effects = job.store.update(change)
        except _NotLandedError as error:
            if isinstance(error.why, Moved):
                return error.why
            if not error.why.is_busy or time.monotonic() > deadline:
                return Refused(why="blocked", reason=error.why.reason, paths=error.why.paths)
            time.sleep(_PAUSE)
        else:
            return landed[0], effects


def _resolved(loop: Loop, job: Job, commit: str | None) -> list[Effect]:
    require_wanted(loop, job)
    event = events.AtomResolved(
        atom=job.atom.id, summary=job.summary, artifacts=job.artifacts, at=app.now(), commit=commit
    )
    return advance(loop, event)


def require_wanted(loop: Loop, job: Job) -> None:
    """Raises NotVerified: what would come of it does not count any more."""
    if loop.control.epoch != job.loop.control.epoch or loop.control.redirect_requested:
        raise NotVerified("a person is changing the direction of the loop: what was begun before does not count")
    now = next((one for one in loop.atoms if one.id == job.atom.id), None)
    if now is not None and now.status == "resolved":
        raise NotVerified(f"{job.atom.id} was resolved meanwhile, by other work or by another call")
    before = job.loop.objective.base_case
    if now is not None and check_of(now, loop.objective.base_case) != check_of(job.atom, before):
        raise NotVerified(f"the check of {job.atom.id} changed while it ran; integrate it again")
    if loop.control.status != "running":
        raise NotVerified(f"the loop is {loop.control.status}; what is done now does not count")
