"""Where nothing keeps agents out of the checkout, it is looked at before and after each attempt: who changed it has
failed, and what was changed is put back.

A person may edit and commit while a loop runs, and that looks the same. So an attempt is blamed only on evidence: what
it was heard to say or do names the checkout and what changed there. The rest is not touched, and told. What is put back
is kept beforehand, in the attempt's own folder.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

from msgspec.structs import replace

from aotloop.agents import scratch
from aotloop.agents.contract import Assignment, Failed, Outcome
from aotloop.errors import AotError
from aotloop.runner.branch import Branch
from aotloop.runner.threads import in_thread
from aotloop.workspace.checkout import Difference, Look, difference, look_at
from aotloop.workspace.putting_back import put_back
from aotloop.workspace.repository import Repository

EVIDENCE = "strayed"
"""The folder, in the attempt's own, of what it had left in the checkout."""

_MOMENT = 0.2
"""Seconds. What others do to the state file is noticed sooner."""

_SHOWN = 5


class Watch:
    """Of one attempt."""

    def __init__(self) -> None:
        self.blame: str | None = None
        self.notes: tuple[str, ...] = ()

    def judged(self, outcome: Outcome) -> Outcome:
        """To be asked when the watch is over."""
        if self.blame is None:
            return replace(outcome, notes=(*outcome.notes, *self.notes))
        return Failed(
            reason=self.blame,
            taught=True,
            is_void=True,
            seconds=outcome.seconds,
            cost_usd=outcome.cost_usd,
            tokens=outcome.tokens,
            turns=outcome.turns,
            output=outcome.output,
            notes=(*outcome.notes, *self.notes),
        )


@asynccontextmanager
async def unwatched() -> AsyncIterator[Watch]:
    """Where there is nothing to look at."""
    yield Watch()


class Trespassing:
    def __init__(self, repository: Repository, branch: Branch, ours: Sequence[str]) -> None:
        """`ours`: paths from the project's root that change by themselves while a loop runs."""
        prefix = f"{repository.prefix}/" if repository.prefix else ""
        self._repository = repository
        self._branch = branch
        self._ignoring = [f"{prefix}{one}" for one in ours]
        self._edits: list[str] = []

    @asynccontextmanager
    async def watched(self, assignment: Assignment) -> AsyncIterator[Watch]:
        watch = Watch()
        before = await in_thread(self._look)
        began, edits = len(self._branch.landed), len(self._edits)
        try:
            yield watch
        finally:
            if before is not None:
                await in_thread(partial(self._compare, watch, assignment, before, began))
            if _names_state_file(assignment):
                await asyncio.sleep(_MOMENT)  # until the last of it has been noticed
                self._blame_for_edits(watch, self._edits[edits:])

    def edited(self, what: Sequence[str]) -> None:
        """Somebody changed the state file, so and so."""
        self._edits += what

    def _blame_for_edits(self, watch: Watch, edits: Sequence[str]) -> None:
        if edits and watch.blame is None:
            watch.blame = f"it changed the state file of the loop, which no attempt may do: {_named(edits)}"

    def _look(self) -> Look | None:
        with suppress(AotError, OSError):  # a checkout that cannot be looked at now is no reason not to work
            return look_at(self._repository, self._ignoring)
        return None

    def _compare(self, watch: Watch, assignment: Assignment, before: Look, began: int) -> None:
        now = self._look()
        ours = self._branch.landed[began:]
        found = difference(before, now, ours) if now is not None else Difference()
        heard = _heard(assignment) if found.words else b""
        blamed = _blamed(found, heard) if os.fsencode(self._repository.top) in heard else Difference()
        others = [word for word in found.words if word not in (*blamed.words, "HEAD")]  # commits are told elsewhere
        if others:
            named = _named(others)
            watch.notes = (f"the checkout was changed meanwhile, as it seems not by this attempt: {named}",)
        if blamed.words:
            watch.blame = f"it changed the checkout itself, where no attempt may work: {_named(blamed.words)}"
            # What landed meanwhile stays: then HEAD cannot go back to where it was.
            wanted = replace(blamed, moved=blamed.moved and not ours)
            watch.notes += tuple(self._put_back(assignment, before, wanted))

    def _put_back(self, assignment: Assignment, before: Look, found: Difference) -> list[str]:
        evidence = assignment.scratch / EVIDENCE
        try:
            left = put_back(self._repository, before, found, evidence, (assignment.atom, assignment.attempt))
        except (AotError, OSError) as error:
            return [f"what it changed in the checkout could not be put back: {error}"]
        told = [f"the checkout was put back to what it was; what had been changed there is kept in {evidence}"]
        return told + ([f"left as it is, in the checkout: {', '.join(left)}"] if left else [])


def _heard(assignment: Assignment) -> bytes:
    with suppress(OSError):
        return (assignment.scratch / scratch.TRANSCRIPT).read_bytes()
    return b""


def _names_state_file(assignment: Assignment) -> bool:
    heard = _heard(assignment)
    return b"AOT_STATE_FILE" in heard or os.fsencode(assignment.state_file) in heard


def _blamed(found: Difference, heard: bytes) -> Difference:
    """What of it was named, be it only by the last part of its path."""
    return Difference(
        paths=tuple(path for path in found.paths if _last_part(path) in heard),
        settings=tuple(name for name in found.settings if _last_part(name) in heard),
        moved=found.moved and b"git" in heard,
    )


def _last_part(path: str) -> bytes:
    return os.fsencode(path.rstrip("/").rpartition("/")[2])


def _named(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (" …" if len(words) > _SHOWN else "")
