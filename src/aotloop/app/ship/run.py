"""Starts or resumes a feature, and drives it as far as it goes now. Only one process at a time does this."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from aotloop.app.overview.loop_registry import register
from aotloop.app.run.run_isolation import ended_with_run
from aotloop.app.ship.equipment import branch_of, context_for
from aotloop.app.ship.feature_start import FeatureOptions, begin_feature
from aotloop.app.ship.phase_graph import WorkGraph, graph_store, refuse_others
from aotloop.app.ship.preconditions import (
    refuse_other_branch,
    refuse_unfinished,
    refuse_unready,
    resumed,
    worktrees_for,
)
from aotloop.clock import now
from aotloop.config.schema import Config
from aotloop.core.phases import events
from aotloop.core.phases.gaps import gaps_of
from aotloop.core.phases.model import PhaseLoop, Status
from aotloop.errors import AotError, StateFileBusy
from aotloop.execution import run_events, ship_events
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.execution.journals.journal import Journal
from aotloop.execution.observer import Observer
from aotloop.phases.driver.announcer import Announcer
from aotloop.phases.driver.claims import Claims
from aotloop.phases.driver.driver import Driver
from aotloop.phases.driver.interruption import Interruptions
from aotloop.phases.driver.phase_run import run_id_of
from aotloop.phases.driver.phase_turn import Turns
from aotloop.phases.project import Project
from aotloop.phases.receipts import tell
from aotloop.process.process_group import kill_orphans
from aotloop.statefile.lease import Lease
from aotloop.statefile.phases.phase_store import PhaseStore


class ShipOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of this run."""

    begin: FeatureOptions | None = None
    """None: the present feature continues."""
    limits: Mapping[str, Any] = {}
    """Options of LoopResumed, for a feature that continues."""
    branch: str | None = None
    take_over: bool = False


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    loop: PhaseLoop
    signal: int | None = None
    """What interrupted it."""

    @property
    def status(self) -> Status:
        return self.loop.status


def ship(store: PhaseStore, config: Config, wishes: ShipOptions, observers: Callable[[], Observer]) -> Ending:
    project = Project(store, config.ship, config.variables(), config.fence)
    Path(store.path).parent.mkdir(parents=True, exist_ok=True)  # where the lease goes
    with _held(store.path) as held:
        loop = None
        if wishes.begin is not None:
            refuse_unfinished(project)
        else:
            loop = store.load()
            if loop.status not in ("running", "stopped"):
                return Ending(loop=loop)
            refuse_other_branch(project, loop, wishes.branch)
        refuse_unready(project, config, wishes.branch)
        run = _Run(project, config, observers, held)
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
    def __init__(self, project: Project, config: Config, observers: Callable[[], Observer], held: Lease) -> None:
        self._project = project
        self._config = config
        self._observers = observers
        self._lease = held
        self.graph_store = graph_store(project.root)
        self._journal = Journal(project.root, config.max_journal_mb)
        self._announcer = Announcer(observers, self._journal)

    def run(self, wishes: ShipOptions, loop: PhaseLoop | None) -> Ending:
        if loop is None:
            loop = self._begun(wishes)
        register(self._project.store.path, "feature")
        run_id = run_id_of(loop, self._project.store.path)
        variables = self._config.variables(run_id)
        self._project = Project(self._project.store, self._config.ship, variables, self._config.fence)
        kill_orphans(run_id)
        with ended_with_run(run_id, self._worktrees(run_id, wishes.branch)) as worktrees:
            if wishes.begin is None:
                loop = resumed(self._project, wishes.limits, take_over=wishes.take_over)
                loop = self._on_branch(loop, worktrees, wishes.branch)
            return self._drive(loop, worktrees, run_id)

    def _worktrees(self, run_id: str, branch: str | None) -> Worktrees:
        return worktrees_for(self._config, self.graph_store, run_id, branch)

    def _begun(self, wishes: ShipOptions) -> PhaseLoop:
        """Obstacles are found before the file of the loop is written."""
        if wishes.begin is None:
            raise AssertionError("there is a loop to go on with")
        worktrees = self._worktrees("", wishes.branch)
        try:
            branch = branch_of(worktrees).name
        finally:
            worktrees.close()
        return begin_feature(self._project.store, msgspec.structs.replace(wishes.begin, branch=branch))

    def _on_branch(self, loop: PhaseLoop, worktrees: Worktrees, wanted: str | None) -> PhaseLoop:
        if wanted is None:
            return loop
        return tell(self._project, events.ArtifactsNamed(at=now(), branch=branch_of(worktrees).name)).loop

    def _drive(self, loop: PhaseLoop, worktrees: Worktrees, run_id: str) -> Ending:
        began = time.monotonic()
        self._journal.open()
        self._announcer.open(loop)
        claims = Claims(self._project, self._tell)
        interruptions = Interruptions(self._project, claims, self._lease.renew)
        self._tell(self._began(loop, worktrees, run_id))
        try:
            self._driver(worktrees, run_id, claims, interruptions).drive()
        except (KeyboardInterrupt, SystemExit) as error:  # between two turns
            interruptions.note(_number_of(error))
        except Exception as error:
            if not isinstance(error, AotError):  # a bug: it is recorded, and the feature can continue
                claims.stop(f"error: {type(error).__name__}: {error}")
            raise
        finally:
            with suppress(AotError):
                self._tell_end(time.monotonic() - began)
            self._announcer.close()
            self._journal.close()
        return Ending(loop=self._project.store.load(), signal=interruptions.signal)

    def _tell_end(self, seconds: float) -> None:
        loop = self._project.store.load()
        gaps = gaps_of(loop)
        self._tell(
            ship_events.ShipEnded(
                at=now(),
                status=loop.status,
                phase=loop.phase,
                reason=loop.stop_reason,
                seconds=round(seconds, 3),
                cost_usd=loop.spent_usd,
                forced_phases=gaps.forced,
                skipped=gaps.skipped,
            )
        )

    def _tell(self, event: run_events.RunEvent) -> None:
        self._announcer.news(event)

    def _began(self, loop: PhaseLoop, worktrees: Worktrees, run_id: str) -> run_events.RunEvent:
        return ship_events.ShipBegan(
            at=now(),
            run_id=run_id,
            pid=os.getpid(),
            feature=loop.feature,
            phase=loop.phase,
            branch=branch_of(worktrees).name,
        )

    def _driver(self, worktrees: Worktrees, run_id: str, claims: Claims, interruptions: Interruptions) -> Driver:
        context = context_for(self._project, self._config, worktrees, run_id, self._journal, self._announcer)
        graph = WorkGraph(self._project, self._config, self.graph_store, claims, interruptions, self._observers)
        return Driver(context, claims, Turns(context, claims), graph, interruptions, self._announcer)


def _number_of(error: BaseException) -> int:
    """The number of the signal; an exit code above 128 contains it."""
    code = error.code if isinstance(error, SystemExit) else None
    return code - 128 if isinstance(code, int) and code > 128 else 2
