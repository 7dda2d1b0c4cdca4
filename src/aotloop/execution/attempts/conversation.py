"""Conversations that continue: an attempt goes on in the conversation of the attempt before, in the same place.

This needs an attempt before it that was checked and merged, the same agent, a start whose measured time in this run is
worth saving, and a limited number of attempts. In all other cases the next attempt begins a new conversation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from os import fsencode
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.client.conversation_stores import empty_store, remove_store
from aotloop.agents.contract import Assignment, Backend, Outcome, Session, Sitting
from aotloop.agents.prompts.follow_up import follow_up
from aotloop.deletion import discard_tree
from aotloop.errors import AotError
from aotloop.execution.agent_pool import Seat
from aotloop.execution.isolation.place import Place
from aotloop.execution.journals.records import Work
from aotloop.execution.task import Task
from aotloop.execution.threads import in_thread
from aotloop.fence.agent_folder import remove_left_folders
from aotloop.git.commits.attempt_commit import differences

LEAST_SHARE = 1 / 20
"""Share of an attempt: a shorter start is not worth the cost of a longer conversation."""

LONGEST = 15.0
"""Minutes. A task with a longer estimate is not small."""

OnOutput = Callable[[str], None]


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that can go on, if the work of its last attempt is merged."""

    session: Session
    agent: str
    backend: Backend
    task: str
    attempt: int
    epoch: int
    attempts: int
    """The attempts in it so far."""
    tree: str | None = None
    """The commit that its agent has left; None: unknown."""
    is_checked: bool = False


class _Measured(msgspec.Struct, frozen=True):
    """Times of attempts with a new conversation: seconds until they first changed a file, and seconds in all."""

    start: float = 0.0
    whole: float = 0.0


_LONGEST_MERGE, _TICK = 2.0, 0.02
"""Seconds."""


class Conversations:
    def __init__(self, folder: Path | None = None, is_resolved: Callable[[str], bool] = lambda _: False) -> None:
        """`folder`: for this run alone; None: each attempt has a new conversation.

        `is_resolved`: whether the result of the task with this name was merged.
        """
        self._folder = folder
        self._is_resolved = is_resolved
        self._kept: dict[Path, _Kept] = {}
        self._measured: dict[str, _Measured] = {}

    def open(self) -> None:
        """Removes the conversations that a killed run has left."""
        self.close()

    def close(self) -> None:
        self._kept.clear()
        if self._folder is not None:
            remove_conversations(self._folder)

    # --- an attempt ----------------------------------------------------------------------------------------------

    async def run(self, seat: Seat, place: Place, task: Task, assignment: Assignment, on_output: OnOutput) -> Outcome:
        """The outcome, as `Backend.run` returns it. A conversation that its client does not know costs nothing."""
        store = self._store(place) if _may_sit(seat, task) else None
        if store is None:
            return await seat.backend.run(assignment, on_output)
        before = self._kept.pop(place.cwd, None)
        kept = before if before is not None and await self._may_go_on(before, seat, task) else None
        if kept is not None:
            prompt = follow_up(assignment.prompt, await _changes(place, kept.tree))
            sitting = Sitting(store=store, session=kept.session)
            outcome = await seat.backend.run(replace(assignment, prompt=prompt, sitting=sitting), on_output)
            if outcome.cause != "no_session":
                self._keep(seat, place, task, outcome, kept.attempts + 1)
                return outcome
        return await self._begin(seat, place, task, replace(assignment, sitting=_new(store)), on_output)

    async def _begin(
        self, seat: Seat, place: Place, task: Task, assignment: Assignment, on_output: OnOutput
    ) -> Outcome:
        outcome = await seat.backend.run(assignment, on_output)
        if outcome.start is not None:
            before = self._measured.get(seat.agent, _Measured())
            self._measured[seat.agent] = _Measured(before.start + outcome.start, before.whole + outcome.seconds)
        self._keep(seat, place, task, outcome, 1)
        return outcome

    def _store(self, place: Place) -> Path | None:
        return self._folder / sha256(fsencode(place.cwd)).hexdigest()[:16] if self._folder is not None else None

    def _keep(self, seat: Seat, place: Place, task: Task, outcome: Outcome, attempts: int) -> None:
        if outcome.session is not None:
            self._kept[place.cwd] = _Kept(
                session=outcome.session,
                agent=seat.agent,
                backend=seat.backend,
                task=task.name,
                attempt=task.number,
                epoch=task.epoch,
                attempts=attempts,
            )

    def checked(self, task: Task, work: Work | None) -> None:
        """The check of the attempt passed; the merge is still open."""
        cwd = next((cwd for cwd, kept in self._kept.items() if kept.attempt == task.number), None)
        if cwd is not None and work is not None:
            self._kept[cwd] = replace(self._kept[cwd], is_checked=True, tree=work.commit or work.base)

    # --- whether it goes on --------------------------------------------------------------------------------------

    async def _may_go_on(self, kept: _Kept, seat: Seat, task: Task) -> bool:
        is_same = (kept.agent, kept.backend, kept.epoch) == (seat.agent, seat.backend, task.epoch)
        is_first_try = not task.failures  # after a failure, a new conversation takes a new view
        may = is_same and kept.is_checked and is_first_try and kept.attempts < seat.most and self._pays(seat.agent)
        return may and await self._is_merged(kept)

    async def _is_merged(self, kept: _Kept) -> bool:
        """The merge of its last work may be under way: it takes a moment, which is less than a new start costs."""
        deadline = asyncio.get_running_loop().time() + _LONGEST_MERGE
        while not self._is_resolved(kept.task):
            if asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(_TICK)
        return True

    def _pays(self, agent: str) -> bool:
        """Without a measurement, it does not pay."""
        measured = self._measured.get(agent, _Measured())
        return measured.start > measured.whole * LEAST_SHARE


def remove_conversations(folder: Path) -> None:
    """Removes the conversations of a run, with the files that a client has left elsewhere."""
    with suppress(OSError):
        for store in folder.iterdir():
            remove_store(store)
    discard_tree(folder)
    with suppress(OSError):  # it holds those of another loop
        folder.parent.rmdir()
    remove_left_folders()


def _may_sit(seat: Seat, task: Task) -> bool:
    is_able = seat.most > 1 and seat.backend.capabilities.sessions == "native"
    return is_able and task.role == "worker" and _is_small(task)


def _is_small(task: Task) -> bool:
    """Whether the task is small and asks for no particular agent."""
    return task.agent is None and task.command is None and (task.estimate is None or task.estimate <= LONGEST)


def _new(store: Path) -> Sitting | None:
    try:
        empty_store(store)
    except OSError:  # only the possible saving is lost
        return None
    return Sitting(store=store)


async def _changes(place: Place, tree: str | None) -> tuple[str, ...] | None:
    """Files that differ from the commit; None: unknown."""
    if place.worktree is None or tree is None:
        return None
    with suppress(AotError):
        return await in_thread(partial(differences, place.worktree, tree))
    return None
