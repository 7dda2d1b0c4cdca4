"""How what an attempt did reaches the branch that was checked out when the run began, and how it is taken back.

Everything here blocks: not for the thread of the event loop.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from aotloop.errors import AotError, Unavailable
from aotloop.runner.work import Work
from aotloop.workspace import integration
from aotloop.workspace.history import Integrated, commits_of
from aotloop.workspace.landing import Blocked, Landed, landing, other_branch
from aotloop.workspace.repository import Repository
from aotloop.workspace.reverting import revert

_SHOWN = 5
_PATIENCE = 0.5


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """Merged with what is on the branch, in no tree; it only has to land."""

    commit: str
    head: str | None
    needs_check: bool


class Clash(msgspec.Struct, frozen=True, kw_only=True):
    """It does not go together with what these atoms contributed."""

    paths: tuple[str, ...]
    atoms: tuple[str, ...]


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """`moved`: the branch did meanwhile, so it has to be made ready again. `blocked`: by something of a person's."""

    result: Literal["landed", "moved", "blocked"]
    commit: str | None = None
    reason: str = ""
    is_busy: bool = False
    """It may be worth while to try it again in a moment."""


class Branch:
    def __init__(self, repository: Repository) -> None:
        with landing(repository):  # what a process that died had begun is finished first
            head = repository.head()
        self._repository = repository
        self._ref = head.branch
        self._last = head.commit
        """Where it was when we began, or when we last moved it: it is somewhere below, unless somebody resets it."""
        self._seen = head.commit
        self.landed: list[str] = []
        """To where we moved it, in order."""

    @property
    def name(self) -> str | None:
        """None: a commit is checked out, and no branch."""
        return self._ref.removeprefix("refs/heads/") if self._ref is not None else None

    def head(self) -> str | None:
        """Its last commit, whatever is checked out now."""
        now = self._repository.head()
        if now.branch == self._ref or self._ref is None:
            return now.commit
        return self._repository.git("rev-parse", "--verify", "--quiet", f"{self._ref}^{{commit}}").text

    def was_moved_by_others(self) -> bool:
        """Since this was asked last. It costs the reading of a file or two."""
        now = self._repository.head()
        before, self._seen = self._seen, now.commit if now.branch == self._ref else self._seen
        return self._seen not in (before, self._last)

    def prepare(self, work: Work) -> Ready | Clash:
        """Raises Unavailable where a person has gone elsewhere."""
        if work.commit is None:
            raise AssertionError("an attempt that changed nothing is not merged")
        if (reason := self._why_not_here()) is not None:
            raise Unavailable(reason)
        prepared = integration.prepare(self._repository, work.commit)
        if isinstance(prepared, integration.Conflict):
            return Clash(paths=prepared.paths, atoms=tuple(dict.fromkeys(one.atom for one in prepared.commits)))
        needs_check = not (prepared.is_fast_forward and work.is_checked)
        return Ready(commit=prepared.commit, head=prepared.head, needs_check=needs_check)

    def land(self, ready: Ready) -> Landing:
        """Quick: others wait for it. Whoever holds git's lock for longer is in the way like a person's edits."""
        prepared = integration.Prepared(ready.head, ready.commit, is_fast_forward=True)
        try:
            done = integration.land(self._repository, prepared, self._ref, patience=_PATIENCE)
        except AotError as error:
            return Landing(result="blocked", reason=error.message)
        if isinstance(done, Landed):
            self._note(done.commit)
            return Landing(result="landed", commit=done.commit)
        if isinstance(done, Blocked):
            return Landing(result="blocked", reason=done.reason, is_busy=done.is_busy)
        return Landing(result="moved")

    def take_back(self, atoms: tuple[str, ...], run_id: str, why: str) -> str | None:
        """Why it could not be done; None: nothing of them is there any more."""
        while True:
            if (reason := self._why_not_here()) is not None:
                return reason
            done = revert(self._repository, atoms, self._ref, run=run_id, why=why)
            if isinstance(done, integration.Conflict):
                since = ", ".join(dict.fromkeys(one.atom for one in done.commits if one.atom not in atoms))
                return f"{', '.join(done.paths[:_SHOWN])} changed since" + (f", by {since}" if since else "")
            if isinstance(done, Blocked):
                return done.reason
            if isinstance(done, Landed):
                self._note(done.commit)
            if done is None or isinstance(done, Landed):
                return None

    def _note(self, commit: str) -> None:
        self._last = commit
        self.landed.append(commit)

    def _why_not_here(self) -> str | None:
        """A person has another branch checked out, or has taken away what was there."""
        now = self._repository.head()
        if now.branch != self._ref:
            return other_branch(self._ref, now.branch)
        if self._last is None or now.commit == self._last or self.contains(self._last):
            return None
        where = f"branch {self.name}" if self.name is not None else "what is checked out"
        return f"{where} was reset: it does not contain {self._last[:12]} any more"

    # --- what earlier runs left there ----------------------------------------------------------------------------

    def landed_before(self, work: Work, run_id: str) -> str | None:
        """The commit by which a run that died had landed it already."""
        return next((one.sha for one in self._standing(run_id) if one.attempt == str(work.attempt)), None)

    def atoms_on_it(self, run_id: str) -> list[str]:
        """Those that contributed something that is still there."""
        return list(dict.fromkeys(one.atom for one in self._standing(run_id)))

    def last_attempt(self, run_id: str) -> int:
        numbers = (one.attempt for one in commits_of(self._repository, run=run_id))
        return max((int(number) for number in numbers if number and number.isdecimal()), default=0)

    def contains(self, commit: str) -> bool:
        return self._repository.git("merge-base", "--is-ancestor", commit, "HEAD", accept=()).code == 0

    def has(self, commit: str) -> bool:
        return self._repository.git("cat-file", "-e", f"{commit}^{{commit}}", accept=()).code == 0

    def _standing(self, run_id: str) -> list[Integrated]:
        ours = commits_of(self._repository, run=run_id)
        taken_back = {one.reverts for one in ours}
        return [one for one in ours if one.reverts is None and one.sha not in taken_back]
