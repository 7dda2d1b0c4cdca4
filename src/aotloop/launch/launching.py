"""Takes a loop to its end: one process at a time, with all that a run needs put together."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from aotloop.app import remembered
from aotloop.config import Config
from aotloop.core import events
from aotloop.core.conduct import Run
from aotloop.core.machine import advance
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop, Objective
from aotloop.core.objective import digest_of
from aotloop.errors import AotError
from aotloop.launch.admission import (
    admitted,
    behind_its_back,
    hire,
    leave_session,
    refuse_other_history,
    refuse_without_agents,
    require_agreement,
)
from aotloop.launch.judges import Asking, Judges
from aotloop.launch.placing import places_of, remove_worktrees
from aotloop.launch.roll_call import roll_call
from aotloop.runner import news
from aotloop.runner.attempt import Attempts
from aotloop.runner.availability import Availability
from aotloop.runner.checks import Checks, OnSpent
from aotloop.runner.clock import now
from aotloop.runner.crew import Crew
from aotloop.runner.journal import Journal
from aotloop.runner.means import Means
from aotloop.runner.places import Places
from aotloop.runner.records import Records
from aotloop.runner.recovery import look
from aotloop.runner.runner import Ending, Runner, Start
from aotloop.runner.sitting import Sittings, remove_conversations
from aotloop.runner.spectator import Spectator
from aotloop.statefile.lease import Lease, lease
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.survivors import kill_orphans
from aotloop.trust.confirmations import Subject
from aotloop.trust.objectives import agreed, difference
from aotloop.verify.judge import Judge


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted of this run alone."""

    limits: Mapping[str, Any] = {}
    branch: str | None = None
    take_over: bool = False
    """Though a session drives it."""
    is_accepted: Callable[[Loop], bool]
    """Whether the user has accepted every command of a loop."""


def run_loop(store: Store, config: Config, wishes: Wishes, spectator: Spectator) -> Ending:
    with lease(store.path, "run", since=now()) as held:
        loop = admitted(store)
        if loop.control.status == "completed":
            _tidy_up(store, config, loop)
            return Ending(status="completed", worked=False)
        loop = leave_session(store, loop, take_over=wishes.take_over)
        refuse_without_agents(loop, config)
        require_agreement(store, loop)
        run_id = _run_id(loop)
        kill_orphans(run_id)
        places = places_of(store, loop.objective, config, run_id, wishes.branch)
        try:
            refuse_other_history(loop, places)
            launch = _Launch(store, config, wishes, spectator, places, run_id, held)
            return launch.run(loop)
        finally:
            with undisturbed():
                kill_orphans(run_id)  # what set-up left running, for one, lives as long as the run, and no longer
                places.close()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Whoever presses Ctrl-C again and again is obeyed by now; it takes a moment more to leave nothing behind."""
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tidy_up(store: Store, config: Config, loop: Loop) -> None:
    """After a process that died when everything but this was done."""
    if loop.control.run_id is not None:
        kill_orphans(loop.control.run_id)
        remove_conversations(Journal(Path(project_root(store.path))).sittings_folder(loop.control.run_id))
    with suppress(AotError):  # it is completed all the same
        remove_worktrees(store, config)


def _run_id(loop: Loop) -> str:
    """A loop has one from its first start until it is aligned anew: commits and processes are known by it."""
    known = loop.control.run_id
    return known if known is not None and loop.control.status != "pending" else uuid.uuid4().hex[:12]


class _Launch:
    def __init__(
        self,
        store: Store,
        config: Config,
        wishes: Wishes,
        spectator: Spectator,
        places: Places,
        run_id: str,
        held: Lease,
    ) -> None:
        self._store = store
        self._config = config
        self._wishes = wishes
        self._spectator = spectator
        self._places = places
        self._run_id = run_id
        self._lease = held
        self._root = Path(project_root(store.path))
        self._journal = Journal(self._root)
        asking = Asking(run_id=run_id, scratch=self._journal.judgement_folder, allowance=self._allowance)
        self._judges = Judges(store, config, asking)
        self._sittings = Sittings(self._journal.sittings_folder(run_id), self._is_resolved)
        self._run: Run | None = None

    def run(self, loop: Loop) -> Ending:
        recovery = look(loop, self._run_id, self._journal, self._places.branch)
        limits = dict(self._wishes.limits)
        if self._places.most is not None:
            limits["max_parallel_agents"] = self._places.most
        self._run = run = Run(loop, overriding=limits, first_attempt=recovery.first_attempt)
        start = Start(
            run_id=self._run_id,
            objective_digest=digest_of(loop.objective),
            recovery=recovery,
            is_resumed=loop.control.status == "running",
            commit=self._clean_commit(),
        )
        self._journal.open()
        self._sittings.open()
        self._spectator.open(loop.snapshot())
        try:
            return self._drive(run, start)
        except Exception as error:
            if not isinstance(error, AotError):
                self._note_bug(error)
            raise
        finally:
            self._spectator.close()
            self._journal.close()
            with undisturbed():
                self._judges.close()
                self._sittings.close()

    def _clean_commit(self) -> str | None:
        """Where changes besides it are refused, there are none."""
        is_clean = self._places.branch is not None and not self._config.allow_dirty
        return self._places.head() if is_clean else None

    def _drive(self, run: Run, start: Start) -> Ending:
        runner = Runner(
            store=self._store,
            means=self._means(run),
            start=start,
            objection=self._objection,
            renew=self._lease.renew,
            spectator=self._spectator,
        )
        self._tell(self._began(run))
        for one in roll_call(run.loop, self._config, run.limits):
            self._tell(one)
        ending = asyncio.run(runner.drive())
        if self._journal.problem is not None:
            self._tell(news.Warned(at=now(), text=self._journal.problem))
        self._tell(_ended(run, ending))
        return ending

    def _is_resolved(self, atom_id: str) -> bool:
        atom = self._run.board.atoms.get(atom_id) if self._run is not None else None
        return atom is not None and atom.status == "resolved"

    def _tell(self, one: news.News) -> None:
        self._journal.note(one)
        self._spectator.news(one)

    def _means(self, run: Run) -> Means:
        checks = Checks(
            self._root,
            timeout=self._config.check_timeout,
            judge_at=self._judge_at,
            variables={"AOT_RUN_ID": self._run_id},
        )
        crew = Crew(self._config, partial(hire, self._config), Availability(self._config.patience))
        attempts = Attempts(
            places=self._places,
            checks=checks,
            crew=crew,
            journal=self._journal,
            state_file=Path(self._store.path),
            on_output=self._spectator.output,
            sittings=self._sittings,
        )
        return Means(
            run=run,
            run_id=self._run_id,
            places=self._places,
            checks=checks,
            crew=crew,
            journal=self._journal,
            records=Records(self._journal),
            attempts=attempts,
            most_for_one=self._config.max_attempt_cost_usd,
            tell=self._tell,
        )

    def _judge_at(self, objective: Objective, commit: str | None, root: Path, on_spent: OnSpent) -> Judge:
        about = Subject(state_file=self._store.path, objective_digest=digest_of(objective), commit=commit)
        return remembered(about, self._judges.judge(objective, root, on_spent))

    def _allowance(self) -> float | None:
        """What a judgement may cost: as much as an attempt, and no more than is left."""
        most = self._config.max_attempt_cost_usd
        limit = self._run.limits.max_cost_usd if self._run is not None else None
        if limit is None or self._run is None:
            return most
        left = max(limit - self._run.loop.control.cost_usd, 0.0)
        return left if most is None else min(left, most)

    def _objection(self, loop: Loop, is_other_objective: bool) -> str | None:
        before = agreed(self._store.path) if is_other_objective else None
        if before is not None and difference(before, loop.objective):
            return f"blocked: {behind_its_back(before, loop.objective)} (`aot redirect --accept` takes it)"
        if not self._wishes.is_accepted(loop):
            return "blocked: the file has commands that were not accepted; `aot run` shows them, and asks"
        return None

    def _began(self, run: Run) -> news.News:
        branch = self._places.branch
        return news.RunBegan(
            at=now(),
            run_id=self._run_id,
            pid=os.getpid(),
            goal=run.loop.objective.goal,
            isolation=self._places.isolation,
            branch=branch.name if branch is not None else None,
            slots=run.limits.max_parallel_agents,
            attempts_at_most=attempts_left(run.loop, run.limits),
            max_cost_usd=run.limits.max_cost_usd,
            overriding=dict(self._wishes.limits),
        )

    def _note_bug(self, error: Exception) -> None:
        reason = f"error: {type(error).__name__}: {error}"
        with suppress(AotError):
            self._store.update(partial(_stop, reason=reason))


def _stop(loop: Loop, *, reason: str) -> None:
    for atom in [one for one in loop.atoms if one.status == "in_progress"]:
        advance(loop, events.AtomAbandoned(atom=atom.id))
    advance(loop, events.LoopStopped(reason=reason))


def _ended(run: Run, ending: Ending) -> news.News:
    control = run.loop.control
    return news.RunEnded(
        at=now(),
        status="completed" if ending.status == "completed" else "stopped",
        reason=ending.reason,
        worked=ending.worked,
        seconds=control.ran_seconds,
        cost_usd=control.cost_usd,
        used=control.used,
    )
