"""The checkout guard compares the checkout before and after each attempt, if no sandbox keeps agents out.

An attempt that changed the checkout has failed, and its changes are put back. A person may edit and commit while a loop
runs, and that looks the same. So an attempt is blamed only on evidence: its output names the checkout and the changed
file. Other changes stay, and are reported. The guard first keeps the files that it puts back, in the attempt's own
folder.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

from msgspec.structs import replace

from aotloop.agents.attempt import scratch
from aotloop.agents.contract import Assignment, Failed, Outcome
from aotloop.errors import AotError
from aotloop.execution.integration.branch import Branch
from aotloop.execution.threads import in_thread
from aotloop.foreign_files import begin_of_foreign
from aotloop.git.checkout.checkout_state import Difference, Look, difference, look_at
from aotloop.git.checkout.inventory import Facts, ignored_facts, ref_facts
from aotloop.git.checkout.restore import put_back
from aotloop.git.repository import Repository, is_at_or_in
from aotloop.git.worktrees.worktree import Worktree
from aotloop.process.sandbox import Confinement, Policy
from aotloop.text.phrases import listed
from aotloop.trust.folder import closed_folder

EVIDENCE = "strayed"
"""The folder, in the attempt's own, for the files that it had left in the checkout."""

_MOMENT = 0.2
"""Seconds. Changes of the state file are noticed sooner."""

_MOST_HEARD = 50_000_000


class Watch:
    """The watch over one attempt."""

    def __init__(self) -> None:
        self.blame: str | None = None
        self.notes: tuple[str, ...] = ()

    def judged(self, outcome: Outcome) -> Outcome:
        """Call this when the watch is over."""
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
    """A watch that compares nothing."""
    yield Watch()


class CheckoutGuard:
    def __init__(self, repository: Repository, branch: Branch, ours: Sequence[str]) -> None:
        """`ours`: paths from the project's root that change by themselves while a loop runs."""
        prefix = f"{repository.prefix}/" if repository.prefix else ""
        self._repository = repository
        self._branch = branch
        self._ignoring = [f"{prefix}{path}" for path in ours]
        self._edits: list[str] = []

    @asynccontextmanager
    async def watched(self, assignment: Assignment) -> AsyncIterator[Watch]:
        watch = Watch()
        before = await in_thread(self._look)
        beside = await in_thread(self._beside)
        began, edits = len(self._branch.landed), len(self._edits)
        try:
            yield watch
        finally:
            if before is not None:
                await in_thread(partial(self._compare, watch, assignment, before, began))
            await in_thread(partial(self._name_others, watch, beside))
            if _names_state_file(assignment):
                await asyncio.sleep(_MOMENT)  # until its last change was noticed
                self._blame_for_edits(watch, self._edits[edits:])

    def edited(self, paths: Sequence[str]) -> None:
        """The state file was changed by another process or a person, in this way."""
        self._edits += paths

    def _blame_for_edits(self, watch: Watch, edits: Sequence[str]) -> None:
        if edits and watch.blame is None:
            watch.blame = f"it changed the state file of the loop, which no attempt may do: {listed(edits)}"

    def _look(self) -> Look | None:
        with suppress(AotError, OSError):  # a checkout that cannot be read now does not stop the work
            return look_at(self._repository, self._ignoring)
        return None

    def _beside(self) -> Facts:
        """What no look sees, and nothing puts back: other branches, tags, stashes and ignored files."""
        with suppress(AotError, OSError):
            refs, current = ref_facts(self._repository), self._repository.head().branch or ""
            refs.pop(current, None)  # it moves when work lands
            return refs | ignored_facts(self._repository, self._ignoring)
        return {}

    def _name_others(self, watch: Watch, before: Facts) -> None:
        now = self._beside()
        changed = sorted(name for name in {*before, *now} if before.get(name) != now.get(name)) if before else []
        if changed:
            note = f"changed while it ran, perhaps by it, and not put back: {listed(changed)}"
            watch.notes = (*watch.notes, note)

    def _compare(self, watch: Watch, assignment: Assignment, before: Look, began: int) -> None:
        now = self._look()
        ours = self._branch.landed[began:]
        found = difference(before, now, ours) if now is not None else Difference()
        heard = _heard(assignment) if found.words else b""
        blamed = _blamed(found, heard) if os.fsencode(self._repository.top) in heard else Difference()
        others = [word for word in found.words if word not in (*blamed.words, "HEAD")]  # commits are reported elsewhere
        if others:
            named = listed(others)
            watch.notes = (f"the checkout was changed meanwhile, as it seems not by this attempt: {named}",)
        if blamed.words:
            watch.blame = f"it changed the checkout itself, where no attempt may work: {listed(blamed.words)}"
            # Work that landed meanwhile stays: then HEAD cannot return to the earlier commit.
            wanted = replace(blamed, moved=blamed.moved and not ours)
            watch.notes += tuple(self._put_back(assignment, before, wanted))

    def _put_back(self, assignment: Assignment, before: Look, found: Difference) -> list[str]:
        evidence = assignment.evidence / EVIDENCE
        try:
            left = put_back(self._repository, before, found, evidence, (assignment.atom, assignment.attempt))
        except (AotError, OSError) as error:
            return [f"what it changed in the checkout could not be put back: {error}"]
        notes = [f"the checkout was put back to what it was; what had been changed there is kept in {evidence}"]
        return notes + ([f"left as it is, in the checkout: {', '.join(left)}"] if left else [])


def _heard(assignment: Assignment) -> bytes:
    return begin_of_foreign(assignment.evidence / scratch.TRANSCRIPT, _MOST_HEARD)


def _names_state_file(assignment: Assignment) -> bool:
    heard = _heard(assignment)
    return b"AOT_STATE_FILE" in heard or os.fsencode(assignment.state_file) in heard


def _blamed(found: Difference, heard: bytes) -> Difference:
    """The changes that the output names, if only by the last part of the path."""
    return Difference(
        paths=tuple(path for path in found.paths if _last_part(path) in heard),
        settings=tuple(name for name in found.settings if _last_part(name) in heard),
        moved=found.moved and b"git" in heard,
    )


def _last_part(path: str) -> bytes:
    return os.fsencode(path.rstrip("/").rpartition("/")[2])


_USUAL = Policy()


def confinement_at(worktree: Worktree, fence: Policy | None = _USUAL) -> Confinement | None:
    """`fence`: the person's decision; None: no fence. What is linked from the checkout can be read, not changed.

    None: the person's home lies in the checkout. Then the clients' own files do, too, and no client could start.
    """
    if fence is None:
        return None
    repository = worktree.repository
    closed = tuple(dict.fromkeys((repository.top, repository.common_dir)))
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - never raises
    if any(is_at_or_in(home, os.path.realpath(path)) for path in closed):
        return None
    return Confinement(closed=(*closed, *closed_folder()), open=(worktree.path,), policy=fence)
