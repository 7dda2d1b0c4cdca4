"""The loop in memory and the loop in the file are one: both change only here, together, under the file's lock.

An exchange takes in what others did to the file, conducts what has been reported, and writes what came of it; only then
may anyone act on the effects. What has to be decided together with the state of the file (whether a result may still
land on the branch) is done within it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from aotloop.core import events
from aotloop.core.conduct import Run, conduct, reports
from aotloop.core.effects import Added, Effect
from aotloop.core.model import Loop
from aotloop.errors import Unavailable
from aotloop.runner.clock import now
from aotloop.runner.edits import Edits, edits
from aotloop.runner.legible import legible
from aotloop.statefile.store import Store

_WAITS_FOR_A_PERSON = 6


class Exchanged(msgspec.Struct, kw_only=True):
    effects: list[Effect] = []
    taken: list[str] = []
    """What others did, and what of it was not taken."""
    restored: list[str] = []
    afterwards: list[Callable[[], None]] = []
    """To be done when it is written."""


Deed = Callable[[Exchanged], reports.Report | None]
"""Done under the lock, after what others did was taken in; what it returns is conducted."""

Item = reports.Report | Deed


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger cannot know by itself."""

    objection: Callable[[Loop, bool], str | None]
    """Why a run may not go on with this loop; told whether its objective is another one now."""
    at_once: Callable[[Effect, Exchanged], reports.Report | None]
    """What comes of an effect that needs no work; None: it has to be carried out."""
    ahead: Callable[[list[Effect]], list[Effect]] = list
    """Sees to effects that need not wait until the file is written; returns those that have to."""


class Ledger:
    def __init__(self, store: Store, run: Run, rules: Rules) -> None:
        self.run = run
        self._store = store
        self._rules = rules
        self._has_begun = False
        self._waiting: list[Item] = []
        self._result = Exchanged()
        """What has come of items, and is not written yet."""
        self._is_ahead = False
        """Of what was found in the file under the lock that is held now."""
        self._knows_the_run = False
        """The file does: whoever comes after a crash can tell what belongs to this run."""
        self._known = run.loop.snapshot()
        self._ran_before = run.loop.control.ran_seconds
        self._past = {atom.id for atom in run.loop.atoms}
        """Atoms that there are or were: one that is gone does not come back because somebody saves an old buffer."""
        self._accounted = time.monotonic()

    @property
    def loop(self) -> Loop:
        """As it was last written; nobody changes this value any more."""
        return self._known

    @property
    def is_stale(self) -> bool:
        """Somebody else has changed the file since the last exchange."""
        return self._store.has_changed()

    def exchange(self, items: list[Item]) -> Exchanged:
        """Raises StateFileError and Unavailable, for what the store could not read or write. Items are not lost by
        that: what comes of them is written and returned by the next exchange that succeeds.
        """
        self._is_ahead = False
        self._waiting += items

        def change(found: Loop) -> None:
            self._take_in(found, self._result)
            if self._waiting:
                self._account()
            while self._waiting:
                self._is_ahead = self._has_begun = True
                item = self._waiting.pop(0)
                report = item if isinstance(item, reports.Report) else item(self._result)
                if report is not None:
                    self._conduct(report, self._result)
            for name in Loop.__struct_fields__:
                setattr(found, name, getattr(self.run.loop, name))
            if self._knows_the_run:
                self._result.effects = self._rules.ahead(self._result.effects)

        self._store.update(change)
        self._knows_the_run = True
        self._known = self.run.loop.snapshot()
        result, self._result = self._result, Exchanged()
        return result

    def _conduct(self, report: reports.Report, result: Exchanged) -> None:
        effects = conduct(self.run, legible(report))
        for effect in effects:
            if isinstance(effect, Added):
                self._past.update(effect.atoms)
            if (following := self._rules.at_once(effect, result)) is not None:
                self._conduct(following, result)
            else:
                result.effects.append(effect)

    def _account(self) -> None:
        """Time that went by, on a clock that nobody sets; it is decided upon together with what is reported."""
        seconds = round(max(time.monotonic() - self._accounted, 0.0), 3)
        self._accounted += seconds  # what is too short to be written down counts the next time
        self.run.advance(events.Spent(seconds=seconds))

    # --- what others did -----------------------------------------------------------------------------------------

    def _take_in(self, found: Loop, result: Exchanged) -> None:
        if found == self._known:
            return
        if not self._has_begun:  # it was changed since it was looked at, and nothing has been made of that yet
            self._known, self.run.loop = found.snapshot(), found.snapshot()
            self._ran_before = found.control.ran_seconds
            self._refuse(found)
            return
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
            self._conduct(reports.Told(event=request, at=at), result)

    def _refuse(self, found: Loop) -> None:
        if (objection := self._rules.objection(found, True)) is not None:
            hint = "The file was changed just now; look at it."
            raise Unavailable(objection.removeprefix("blocked: "), hint=hint, exit_code=_WAITS_FOR_A_PERSON)

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
