"""Work lands while the state file is locked and still wants it; the same write resolves the atom.

A process that is killed in between has landed something that the file does not know of. The trailers of the commit
tell: called again, it is found, and only the file is written.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from aotloop.app.session.integration.integration_result import Job, Refused
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.checks.checklist import check_of
from aotloop.core.effects import Effect
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import NotVerified
from aotloop.execution.integration import outcome
from aotloop.execution.integration.integrator import integrate, without_waiting
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed, Moved
from aotloop.git.commits.integration import standing_commits
from aotloop.git.repository import Repository

PATIENCE = 0.5
"""Seconds to wait for git, while every other process waits for the state file."""

R = TypeVar("R")


class _NotLandedError(Exception):
    def __init__(self, why: Moved | Blocked) -> None:
        super().__init__()
        self.why = why


class SessionSteps(ABC, Generic[R]):
    """Steps of an integration that block: nothing else happens in the process of a script."""

    def __init__(self, job: Job, repository: Repository) -> None:
        self.job = job
        self.repository = repository
        self.effects: list[Effect] = []
        """Effects of the atom's resolution, after the work has landed."""

    @abstractmethod
    async def prepare(self) -> R | Landed | Conflicting: ...

    async def check(self, ready: R) -> outcome.Refused | None:  # noqa: ARG002 - checked before it was prepared
        return None

    @abstractmethod
    def land_now(self, ready: R) -> Landed | Moved | Blocked: ...

    async def land(self, ready: R) -> Landed | Moved | Blocked:
        landed: list[Landed] = []

        def change(loop: Loop) -> list[Effect]:
            _resolved(loop.snapshot(), self.job, None)  # refuses an impossible event before anything lands
            if not landed:  # this may run again, if a person saves the file meanwhile
                done = self.land_now(ready)
                if not isinstance(done, Landed):
                    raise _NotLandedError(done)
                landed.append(done)
            return _resolved(loop, self.job, landed[0].commit)

        try:
            self.effects = self.job.store.update(change)
        except _NotLandedError as error:
            return error.why
        return landed[0]

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - there is no event loop


def bring(steps: SessionSteps[R]) -> tuple[str, list[Effect]] | Refused:
    """The commit on the branch, and the effects of the resolution. Raises NotVerified if the work is not wanted."""
    done = without_waiting(integrate(steps))
    match done:
        case Landed(commit=commit):
            return commit, steps.effects
        case Conflicting(paths=paths, names=atoms):
            reason = f"it conflicts with what {', '.join(atoms) or 'others'} contributed, in {', '.join(paths)}"
            return Refused(why="conflict", reason=reason, paths=paths, atoms=atoms)
        case outcome.Refused(reason=reason, found=found):
            return Refused(why="check", reason=reason, holding=found.holding)
        case Blocked(reason=reason, paths=paths):
            return Refused(why="blocked", reason=reason, paths=paths)
        case outcome.Unwanted():
            raise AssertionError("steps of a session raise instead")


def landed_before(repository: Repository, job: Job, attempt: str) -> str | None:
    """The commit that already brought exactly this work to the branch, if it was not taken back."""
    standing = standing_commits(repository, job.run_id)
    return next((commit.sha for commit in standing if (commit.atom, commit.attempt) == (job.atom.id, attempt)), None)


def resolve(job: Job, commit: str | None) -> list[Effect]:
    """For work without a commit."""
    return job.store.update(lambda loop: _resolved(loop, job, commit))


def _resolved(loop: Loop, job: Job, commit: str | None) -> list[Effect]:
    require_wanted(loop, job)
    event = events.AtomResolved(atom=job.atom.id, summary=job.summary, artifacts=job.artifacts, at=now(), commit=commit)
    return advance(loop, event)


def require_wanted(loop: Loop, job: Job) -> None:
    """Raises NotVerified if the work does not count any more."""
    if loop.control.epoch != job.loop.control.epoch or loop.control.redirect_requested:
        raise NotVerified("a person is changing the direction of the loop: what was begun before does not count")
    now = next((atom for atom in loop.atoms if atom.id == job.atom.id), None)
    if now is not None and now.status == "resolved":
        raise NotVerified(f"{job.atom.id} was resolved meanwhile, by other work or by another call")
    before = job.loop.objective.base_case
    if now is not None and check_of(now, loop.objective.base_case) != check_of(job.atom, before):
        raise NotVerified(f"the check of {job.atom.id} changed while it ran; integrate it again")
    if loop.control.status != "running":
        raise NotVerified(f"the loop is {loop.control.status}; what is done now does not count")
