"""The next attempt at an atom starts from what a failed one left, if more of the check held there than where that one
had started; after so many in a row that got no further (aotloop.core.turns), and in every doubt, it starts clean.

What is known of it is in the record of the failed attempt, beside all else that came of it; the files are kept in the
repository, on no branch. A record that is lost, or says something else than the repository, means a clean start.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from aotloop.agents.wording import cut, plain
from aotloop.core.checklist import check_of, leaves
from aotloop.core.graph import Graph
from aotloop.core.model import Atom, Objective
from aotloop.runner.checks import Checks, Found
from aotloop.runner.journal import Journal
from aotloop.runner.made import Job, Left
from aotloop.runner.places import Place, Places
from aotloop.runner.threads import in_thread
from aotloop.runner.work import Kept, Work

_LONGEST_EVIDENCE = 300
_MOST_REMEMBERED = 100


def may_go_on(graph: Graph, atom: Atom) -> bool:
    """Not what a command does, which is the same each time, and not one of several that race for the same."""
    group = graph.group(atom.id)
    return atom.run is None and not (group is not None and group.speculative)


class WarmStarts:
    def __init__(self, places: Places, checks: Checks, journal: Journal) -> None:
        self._places = places
        self._checks = checks
        self._journal = journal
        self._held_at: dict[tuple[str | None, str], frozenset[str]] = {}
        """By commit and check."""

    async def place(self, job: Job) -> Place:
        """Where this attempt is made."""
        atom = job.context.atom
        if job.may_go_on and atom.failures and self.can_see_progress(atom, job.context.objective):
            kept = await in_thread(partial(self._journal.kept, atom.id, job.run_id))
            if kept is not None and kept.commit is not None:
                return await self._places.go_on(atom.id, kept)
        return await self._places.take()

    def can_see_progress(self, atom: Atom, objective: Objective) -> bool:
        """A check of one part holds or fails as a whole."""
        tree = check_of(atom, objective.base_case)
        return self._places.branch is not None and tree is not None and len(list(leaves(tree))) > 1

    async def left(self, job: Job, place: Place, work: Work | None, found: Found | None = None) -> Left | None:
        """Of an attempt that failed; None: the next one starts clean. `found`: if it was checked already."""
        atom, objective = job.context.atom, job.context.objective
        is_of_use = job.may_go_on and self.can_see_progress(atom, objective)
        if not is_of_use or work is None or work.commit is None:
            return None
        if found is None:
            found = await self._checks.found(atom, place.cwd, objective, is_judged=False)
        return Left(work=work, found=found, start=place.kept)

    async def kept(self, atom: Atom, objective: Objective, left: Left | None, most_in_vain: int) -> Kept:
        """Where the next attempt starts, after one that left this. The place of that one is free by now."""
        if left is None:
            return Kept()
        start, held = left.start or Kept(), set(left.found.holding)
        if held.difference(start.held):
            before = await self._held(atom, objective, left.work.base) | set(start.held)
            if held - before and len(held) > len(before):
                failing = {name: cut(plain(why), _LONGEST_EVIDENCE) for name, why in left.found.failing.items()}
                attempt = left.work.attempt
                return Kept(commit=left.work.commit, attempt=attempt, held=left.found.holding, failing=failing)
        if start.commit is None or start.in_vain + 1 >= most_in_vain:
            return Kept()
        return replace(start, in_vain=start.in_vain + 1)

    async def _held(self, atom: Atom, objective: Objective, commit: str | None) -> frozenset[str]:
        """What holds without any attempt: looked at once for each commit."""
        key = (commit, repr(check_of(atom, objective.base_case)))
        if key not in self._held_at:
            place = await self._places.take(commit)
            try:
                found = await self._checks.found(atom, place.cwd, objective, is_judged=False)
            finally:
                await self._places.leave(place)
            while len(self._held_at) >= _MOST_REMEMBERED:
                del self._held_at[next(iter(self._held_at))]
            self._held_at[key] = frozenset(found.holding)
        return self._held_at[key]
