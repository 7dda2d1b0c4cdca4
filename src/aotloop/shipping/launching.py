"""Takes a feature to its end, or as far as it goes now: one process at a time, with all that it needs put together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from aotloop.config import Config
from aotloop.core.phases import events
from aotloop.core.phases.model import PhaseLoop, Status
from aotloop.errors import AotError, StateFileBusy
from aotloop.launch.launching import undisturbed
from aotloop.phases.beginning import Wanted, begin_feature
from aotloop.phases.filing import now, tell
from aotloop.phases.ground import Ground
from aotloop.runner import news
from aotloop.runner.journal import Journal
from aotloop.runner.spectator import Spectator
from aotloop.shipping.admission import (
    places_for,
    refuse_other_branch,
    refuse_unfinished,
    refuse_unready,
    resumed,
)
from aotloop.shipping.claims import Claims
from aotloop.shipping.driving import Driver
from aotloop.shipping.equipping import branch_of, means_for
from aotloop.shipping.identity import run_id_of
from aotloop.shipping.interrupting import Interruptions
from aotloop.shipping.places import PhasePlaces
from aotloop.shipping.showing import Show
from aotloop.shipping.turns import Turns
from aotloop.shipping.working import Working, refuse_others
from aotloop.statefile.lease import Lease
from aotloop.statefile.locate import STATE_FILE
from aotloop.statefile.phase_store import PhaseStore
from aotloop.statefile.store import Store
from aotloop.survivors import kill_orphans


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted of this run."""

    begin: Wanted | None = None
    """None: go on with the feature there is."""
    limits: Mapping[str, Any] = {}
    """Of LoopResumed, for what is gone on with."""
    branch: str | None = None
    take_over: bool = False


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    loop: PhaseLoop
    signal: int | None = None
    """What interrupted it."""

    @property
    def status(self) -> Status:
        return self.loop.status


def ship(store: PhaseStore, config: Config, wishes: Wishes, spectators: Callable[[], Spectator]) -> Ending:
    ground = Ground(store, config.ship)
    Path(store.path).parent.mkdir(parents=True, exist_ok=True)  # where the lease goes
    with _held(store.path) as held:
        loop = None
        if wishes.begin is not None:
            refuse_unfinished(ground)
        else:
            loop = store.load()
            if loop.status not in ("running", "stopped"):
                return Ending(loop=loop)
            refuse_other_branch(ground, loop, wishes.branch)
        refuse_unready(ground, config, wishes.branch)
        run = _Run(ground, config, spectators, held)
        if not (loop.no_graph if loop is not None else wishes.begin is not None and wishes.begin.no_graph):
            refuse_others(run.graph_store)
        return run.run(wishes, loop)


@contextmanager
def _held(path: str) -> Iterator[Lease]:
    try:
        held = Lease(path, "run", now())
    except StateFileBusy as error:
        error.hint = "`aot ship status` shows it, `aot ship stop` ends it."
        raise
    try:
        yield held
    finally:
        held.end()


class _Run:
    def __init__(self, ground: Ground, config: Config, spectators: Callable[[], Spectator], held: Lease) -> None:
        self._ground = ground
        self._config = config
        self._spectators = spectators
        self._lease = held
        self.graph_store = Store(str(ground.root / STATE_FILE))
        self._journal = Journal(ground.root)
        self._show = Show(spectators, self._journal)

    def run(self, wishes: Wishes, loop: PhaseLoop | None) -> Ending:
        if loop is None:
            loop = self._begun(wishes)
        run_id = run_id_of(loop, self._ground.store.path)
        self._ground = Ground(self._ground.store, self._config.ship, {"AOT_RUN_ID": run_id})
        kill_orphans(run_id)
        places = self._places(run_id, wishes.branch)
        try:
            if wishes.begin is None:
                loop = resumed(self._ground, wishes.limits, take_over=wishes.take_over)
                loop = self._on_branch(loop, places, wishes.branch)
            return self._drive(loop, places, run_id)
        finally:
            with undisturbed():
                kill_orphans(run_id)  # what set-up left running lives as long as the run, and no longer
                places.close()

    def _places(self, run_id: str, branch: str | None) -> PhasePlaces:
        return places_for(self._ground, self._config, self.graph_store, run_id, branch)

    def _begun(self, wishes: Wishes) -> PhaseLoop:
        """What stands in the way is found before there is a loop."""
        if wishes.begin is None:
            raise AssertionError("there is a loop to go on with")
        places = self._places("", wishes.branch)
        try:
            branch = branch_of(places).name
        finally:
            places.close()
        return begin_feature(self._ground.store, msgspec.structs.replace(wishes.begin, branch=branch))

    def _on_branch(self, loop: PhaseLoop, places: PhasePlaces, wanted: str | None) -> PhaseLoop:
        if wanted is None:
            return loop
        return tell(self._ground, events.ArtifactsNamed(at=now(), branch=branch_of(places).name)).loop

    def _drive(self, loop: PhaseLoop, places: PhasePlaces, run_id: str) -> Ending:
        began = time.monotonic()
        self._journal.open()
        self._show.open(loop)
        claims = Claims(self._ground, self._tell)
        interruptions = Interruptions(self._ground, claims, self._lease.renew)
        self._tell(self._began(loop, places, run_id))
        try:
            self._driver(places, run_id, claims, interruptions).drive()
        except (KeyboardInterrupt, SystemExit) as error:  # between two turns
            interruptions.note(_number_of(error))
        except Exception as error:
            if not isinstance(error, AotError):  # a bug: it is on record, and it can be gone on with
                claims.stop(f"error: {type(error).__name__}: {error}")
            raise
        finally:
            with suppress(AotError):
                self._tell_end(time.monotonic() - began)
            self._show.close()
            self._journal.close()
        return Ending(loop=self._ground.store.load(), signal=interruptions.signal)

    def _tell_end(self, seconds: float) -> None:
        loop = self._ground.store.load()
        self._tell(
            news.ShipEnded(
                at=now(),
                status=loop.status,
                phase=loop.phase,
                reason=loop.stop_reason,
                seconds=round(seconds, 3),
                cost_usd=loop.spent_usd,
            )
        )

    def _tell(self, one: news.News) -> None:
        self._show.news(one)

    def _began(self, loop: PhaseLoop, places: PhasePlaces, run_id: str) -> news.News:
        return news.ShipBegan(
            at=now(),
            run_id=run_id,
            pid=os.getpid(),
            feature=loop.feature,
            phase=loop.phase,
            branch=branch_of(places).name,
        )

    def _driver(self, places: PhasePlaces, run_id: str, claims: Claims, interruptions: Interruptions) -> Driver:
        means = means_for(self._ground, self._config, places, run_id, self._journal, self._show)
        working = Working(self._ground, self._config, self.graph_store, claims, interruptions, self._spectators)
        return Driver(means, claims, Turns(means, claims), working, interruptions, self._show)


def _number_of(error: BaseException) -> int:
    """Of the signal: whoever ends a process by an exit code says it with that."""
    code = error.code if isinstance(error, SystemExit) else None
    return code - 128 if isinstance(code, int) and code > 128 else 2
