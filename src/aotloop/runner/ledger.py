"""The ledger keeps the loop in memory and the loop in the file equal: both change only here, under the file's lock.

An exchange takes in the changes of others, gives the reports to the scheduler, and writes the new loop. Only then the
effects may be carried out. A decision that depends on the state of the file (whether a result may still land on the
branch) is made within the exchange.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from aotloop.clock import now
from aotloop.core import events
from aotloop.core.effects import Added, Effect
from aotloop.core.model import Loop
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.decisions import conduct
from aotloop.core.scheduler.run_state import Run
from aotloop.errors import Unavailable
from aotloop.exit_codes import PERSON_NEEDED
from aotloop.runner.edits import Edits, edits
from aotloop.statefile.store import Store
from aotloop.text.encodable import encodable

SLOW_FILE = (
    "the state file has YAML that only the careful reader understands (an alias, say, or a list over several lines); "
    "its updates take longer"
)


class Exchanged(msgspec.Struct, kw_only=True):
    effects: list[Effect] = []
    taken: list[str] = []
    """The changes of others, and which of them were not accepted."""
    restored: list[str] = []
    afterwards: list[Callable[[], None]] = []
    """To be called after the write."""


Deed = Callable[[Exchanged], reports.Report | None]
"""Called under the lock, after the changes of others are in; the scheduler gets what it returns."""

Item = reports.Report | Deed


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Decisions that the ledger cannot make by itself."""

    objection: Callable[[Loop, bool], str | None]
    """Why a run may not continue this loop; the argument says whether the objective has changed."""
    at_once: Callable[[Effect, Exchanged], reports.Report | None]
    """The result of an effect that needs no work; None: it has to be carried out."""
    ahead: Callable[[list[Effect]], list[Effect]] = list
    """Carries out effects that need not wait for the write; returns the others."""


class Ledger:
    def __init__(self, store: Store, run: Run, rules: Rules) -> None:
        self.run = run
        self._store = store
        self._rules = rules
        self._has_begun = False
        self._waiting: list[Item] = []
        self._result = Exchanged()
        """Results of items that are not written yet."""
        self._is_ahead = False
        """Whether our loop is ahead of the file that was found under the present lock."""
        self._knows_the_run = False
        """Whether the file names this run: after a crash, the next run knows which records belong to it."""
        self._known = run.loop.snapshot()
        self._ran_before = run.loop.control.ran_seconds
        self._past = {atom.id for atom in run.loop.atoms}
        """Atoms of the present and the past: a removed atom does not return when a person saves an old buffer."""
        self._accounted = time.monotonic()
        self._has_warned = False

    @property
    def loop(self) -> Loop:
        """The loop as last written; this value does not change any more."""
        return self._known

    @property
    def is_stale(self) -> bool:
        """Another process or a person has changed the file since the last exchange."""
        return self._store.has_changed()

    def warnings(self) -> list[str]:
        """Warnings about the file for a person; each is given once."""
        if not self._store.is_unusual or self._has_warned:
            return []
        self._has_warned = True
        return [SLOW_FILE]

    def exchange(self, items: list[Item]) -> Exchanged:
        """Raises StateFileError and Unavailable if the store could not read or write.

        Items are not lost then: the next exchange that succeeds writes and returns their results.
        """
        self._is_ahead = False
        self._waiting += items

        def change(found: Loop) -> tuple[Loop, None]:
            if self._take_in(found, self._result) or self._waiting:
                self._account()
            while self._waiting:
                self._is_ahead = self._has_begun = True
                item = self._waiting.pop(0)
                report = item if isinstance(item, reports.Report) else item(self._result)
                if report is not None:
                    self._conduct(report, self._result)
            if self._knows_the_run:
                self._result.effects = self._rules.ahead(self._result.effects)
            return self.run.loop, None

        self._store.exchange(change)
        self._knows_the_run = True
        self._known = self._store.last_written or self.run.loop.snapshot()
        result, self._result = self._result, Exchanged()
        return result

    def _conduct(self, report: reports.Report, result: Exchanged) -> None:
        effects = conduct(self.run, encodable(report))
        for effect in effects:
            if isinstance(effect, Added):
                self._past.update(effect.atoms)
            if (following := self._rules.at_once(effect, result)) is not None:
                self._conduct(following, result)
            else:
                result.effects.append(effect)

    def _account(self) -> None:
        """Adds the elapsed time, from a clock that is never set; it is decided on together with the reports."""
        seconds = round(max(time.monotonic() - self._accounted, 0.0), 3)
        self._accounted += seconds  # a time that is too short to be written counts the next time
        if not self.is_idle:
            self.run.advance(events.Spent(seconds=seconds))

    # --- changes of others ---------------------------------------------------------------------------------------

    def _take_in(self, found: Loop, result: Exchanged) -> bool:
        """Whether there was a change while the run goes on: a request to stop ends the run, and its time counts."""
        if found is self._known or found == self._known:
            return False
        if not self._has_begun:  # it was changed since the last look, and that change is not yet used
            self._known, self.run.loop = found.snapshot(), found.snapshot()
            self._ran_before = found.control.ran_seconds
            self._refuse(found)
            return False
        at = now()
        self._past.update(atom.id for atom in self._known.atoms)
        is_old = found.control.ran_seconds <= self._ran_before < self._known.control.ran_seconds
        made = edits(self._known, found, self.run.loop, at=at, adopt=not self._is_ahead, is_old=is_old, past=self._past)
        self._known = found.snapshot()
        result.taken += made.taken
        result.restored += made.restored
        if made.loop is not None:
            self._replace(made, at, result)
        for request in made.requests:
            self._conduct(reports.Happened(event=request, at=at), result)
        return True

    @property
    def is_idle(self) -> bool:
        """A pause in which nothing runs: its time does not count."""
        return self.run.loop.control.paused and not self.run.is_busy()

    @property
    def ran_seconds(self) -> float:
        """How long the loop has run by now, earlier runs included; the file knows it only since the last exchange."""
        since = 0.0 if self.is_idle else max(time.monotonic() - self._accounted, 0.0)
        return self._known.control.ran_seconds + since

    def _refuse(self, found: Loop) -> None:
        if (objection := self._rules.objection(found, True)) is not None:
            hint = "The file was changed just now; look at it."
            raise Unavailable(objection.removeprefix("blocked: "), hint=hint, exit_code=PERSON_NEEDED)

    def _replace(self, made: Edits, at: str, result: Exchanged) -> None:
        if made.loop is None:
            return
        before = {atom.id for atom in self.run.loop.atoms if atom.status == "resolved"}
        self.run.loop = made.loop
        resolved = {atom.id for atom in made.loop.atoms if atom.status == "resolved"}
        self.run.to_revert += sorted(before - resolved)
        objection = self._rules.objection(made.loop, made.objective_changed)
        if objection is not None:
            self._conduct(reports.Halted(at=at, reason=objection), result)
        else:
            self._conduct(reports.LoopReplaced(at=at), result)
