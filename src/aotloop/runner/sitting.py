"""When an attempt goes on in the conversation of the one before it, in the same place.

Only after an attempt that was checked and merged; only where the agent is the same, and its start, as measured in this
run, is worth saving; and only so often. Whatever else happens, the next attempt begins anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from os import fsencode
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Assignment, Backend, Outcome, Session, Sitting
from aotloop.agents.follow_up import follow_up
from aotloop.agents.stores import empty_store, remove_store
from aotloop.core.model import Atom
from aotloop.errors import AotError
from aotloop.runner.crew import Seat
from aotloop.runner.made import Job
from aotloop.runner.places import Place
from aotloop.runner.threads import in_thread
from aotloop.runner.work import Work
from aotloop.workspace.attempts import differences

LEAST_SHARE = 1 / 20
"""Of an attempt: a start that takes less of it is not worth what a longer conversation costs."""

LONGEST = 15.0
"""Minutes. An atom that is expected to take longer is not small."""

OnOutput = Callable[[str], None]


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that can go on, if what its last attempt did is merged."""

    session: Session
    agent: str
    backend: Backend
    atom: str
    attempt: int
    epoch: int
    attempts: int
    """That it took so far."""
    tree: str | None = None
    """The commit that its agent has left; None: nobody can tell."""
    is_checked: bool = False


class _Measured(msgspec.Struct, frozen=True):
    """Of attempts that began anew: seconds until they first changed a file, and seconds in all."""

    start: float = 0.0
    whole: float = 0.0


class Sittings:
    def __init__(self, folder: Path | None = None, is_resolved: Callable[[str], bool] = lambda _: False) -> None:
        """`folder`: of this run alone; None: each attempt is on its own. `is_resolved`: whether an atom's result was
        merged.
        """
        self._folder = folder
        self._is_resolved = is_resolved
        self._kept: dict[Path, _Kept] = {}
        self._measured: dict[str, _Measured] = {}

    def open(self) -> None:
        """What a run that was killed has left is nobody's."""
        self.close()

    def close(self) -> None:
        self._kept.clear()
        if self._folder is not None:
            remove_conversations(self._folder)

    # --- an attempt ----------------------------------------------------------------------------------------------

    async def run(self, seat: Seat, place: Place, job: Job, assignment: Assignment, on_output: OnOutput) -> Outcome:
        """What came of it, as `Backend.run` tells it. A conversation that its client does not know costs nothing."""
        store = self._store(place) if _may_sit(seat, job) else None
        if store is None:
            return await seat.backend.run(assignment, on_output)
        before = self._kept.pop(place.cwd, None)
        kept = before if before is not None and self._may_go_on(before, seat, job) else None
        if kept is not None:
            prompt = follow_up(assignment.prompt, await _changes(place, kept.tree))
            sitting = Sitting(store=store, session=kept.session)
            outcome = await seat.backend.run(replace(assignment, prompt=prompt, sitting=sitting), on_output)
            if outcome.cause != "no_session":
                self._keep(seat, place, job, outcome, kept.attempts + 1)
                return outcome
        return await self._begin(seat, place, job, replace(assignment, sitting=_new(store)), on_output)

    async def _begin(self, seat: Seat, place: Place, job: Job, assignment: Assignment, on_output: OnOutput) -> Outcome:
        outcome = await seat.backend.run(assignment, on_output)
        if outcome.start is not None:
            before = self._measured.get(seat.agent, _Measured())
            self._measured[seat.agent] = _Measured(before.start + outcome.start, before.whole + outcome.seconds)
        self._keep(seat, place, job, outcome, 1)
        return outcome

    def _store(self, place: Place) -> Path | None:
        return self._folder / sha256(fsencode(place.cwd)).hexdigest()[:16] if self._folder is not None else None

    def _keep(self, seat: Seat, place: Place, job: Job, outcome: Outcome, attempts: int) -> None:
        if outcome.session is not None:
            self._kept[place.cwd] = _Kept(
                session=outcome.session,
                agent=seat.agent,
                backend=seat.backend,
                atom=job.context.atom.id,
                attempt=job.start.attempt,
                epoch=job.start.epoch,
                attempts=attempts,
            )

    def checked(self, place: Place, job: Job, work: Work | None) -> None:
        """The attempt that was made there did what it says; whether that is merged will be seen."""
        kept = self._kept.get(place.cwd)
        if kept is not None and kept.attempt == job.start.attempt and work is not None:
            self._kept[place.cwd] = replace(kept, is_checked=True, tree=work.commit or work.base)

    # --- whether it goes on --------------------------------------------------------------------------------------

    def _may_go_on(self, kept: _Kept, seat: Seat, job: Job) -> bool:
        is_same = (kept.agent, kept.backend, kept.epoch) == (seat.agent, seat.backend, job.start.epoch)
        has_worked = kept.is_checked and self._is_resolved(kept.atom)
        is_first_try = not job.context.atom.failures  # who failed looks at it anew
        return is_same and has_worked and is_first_try and kept.attempts < seat.most and self._pays(seat.agent)

    def _pays(self, agent: str) -> bool:
        """Unless it was measured, it does not."""
        measured = self._measured.get(agent, _Measured())
        return measured.start > measured.whole * LEAST_SHARE


def remove_conversations(folder: Path) -> None:
    """Of a run, with what a client has left of them elsewhere."""
    with suppress(OSError):
        for store in folder.iterdir():
            remove_store(store)
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # it holds those of another loop
        folder.parent.rmdir()


def _may_sit(seat: Seat, job: Job) -> bool:
    is_able = seat.most > 1 and seat.backend.capabilities.sessions == "native"
    return is_able and job.start.role == "worker" and _is_small(job.context.atom)


def _is_small(atom: Atom) -> bool:
    """And asks for nobody in particular."""
    return atom.agent is None and atom.run is None and (atom.estimate is None or atom.estimate <= LONGEST)


def _new(store: Path) -> Sitting | None:
    try:
        empty_store(store)
    except OSError:  # nothing is lost but what could have been saved
        return None
    return Sitting(store=store)


async def _changes(place: Place, tree: str | None) -> tuple[str, ...] | None:
    """Files that are not as the commit has them; None: nobody can tell."""
    if place.desk is None or tree is None:
        return None
    with suppress(AotError):
        return await in_thread(partial(differences, place.desk, tree))
    return None
