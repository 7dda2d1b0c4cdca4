"""Drives one run: passes reports to the scheduler and carries out its effects, until the run is finished.

    reports ──▶ Ledger.exchange (file ⇄ scheduler) ──▶ effects ──▶ tasks ──▶ reports

All slow work is a task of one group. Tasks put their reports into the queue. Only the ledger changes the loop.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import msgspec

from aotloop.clock import now
from aotloop.core import effects, events
from aotloop.core.limits import seconds
from aotloop.core.model import Loop
from aotloop.core.scheduler import reports
from aotloop.errors import AotError, StateFileInvalid, StateFileMissing
from aotloop.execution import run_events
from aotloop.execution.journals.run_time import RunTime
from aotloop.execution.observer import Observer
from aotloop.execution.threads import in_thread, obeying_signals
from aotloop.runner.atom_attempts import Charge
from aotloop.runner.background_tasks import BackgroundTasks
from aotloop.runner.crash_recovery import Recovery
from aotloop.runner.ledger import Exchanged, Item, Ledger, Rules
from aotloop.runner.performer import Performer
from aotloop.runner.progress_events import Progress
from aotloop.runner.run_context import RunContext
from aotloop.runner.watchers import watch_blocked, watch_branch, watch_dialogue, watch_file, watch_lease, watch_time
from aotloop.statefile.store import Store

_THREADS = 256
"""The most threads; they are made when they are needed. A check that takes hours must not make a merge wait."""

_MENDING_PATIENCE = 600.0
"""Seconds to wait for the repair of an invalid file."""

_SAVING_PATIENCE = 1.0
"""Seconds to wait for a missing file: some editors move the old one away before they write the new one."""

_PAUSE = 0.1


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    loop: Loop
    """As it was written last: to read a large file again takes as much memory as the whole run."""
    status: str
    reason: str | None = None
    worked: bool = True
    """False: the base case held before any work."""
    signal: int | None = None
    """The signal that interrupted it."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """How a run begins."""

    run_id: str
    objective_digest: str
    recovery: Recovery
    is_resumed: bool = False
    commit: str | None = None
    """The commit that is checked out, without local changes; None: unknown."""


class Runner:
    def __init__(
        self,
        *,
        store: Store,
        context: RunContext,
        start: Start,
        objection: Callable[[Loop, bool], str | None],
        renew: Callable[[], None],
        observer: Observer,
    ) -> None:
        self._store = store
        self._run = context.run
        self._context = context
        self._start = start
        self._observer = observer
        self._objection = objection
        self._renew = renew
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue()
        self._signal: int | None = None
        self._headway = Progress(context.run)
        self._generations_told = context.run.loop.control.iteration
        self._finished: effects.Finished | None = None
        self._was_asked_to_stop = context.run.loop.control.stop_requested
        """The request to stop the run that died, from before this run began."""
        self._is_paused = False
        self._asked_meanwhile: reports.Report | None = None

    async def drive(self) -> Ending:
        """Raises AotError if the file could not be read or written; it is then unchanged, and can be resumed."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "aot"))
        try:
            async with asyncio.TaskGroup() as group:
                self._tasks = BackgroundTasks(group, self._queue.put_nowait)
                self._performer = Performer(self._context, self._tasks, self._queue.put_nowait)
                rules = Rules(objection=self._objection, at_once=self._performer.at_once, ahead=self._performer.ahead)
                self._ledger = Ledger(self._store, self._run, rules)
                with obeying_signals(self._interrupt):
                    watchers = [group.create_task(watcher) for watcher in self._watchers()]
                    try:
                        await self._conduct()
                    finally:
                        for watcher in watchers:
                            watcher.cancel()
                        await self._tasks.end()
                        await self._settle()
        except BaseExceptionGroup as errors:
            error = _expected(errors)
            raise error from None
        return self._ending()

    async def _settle(self) -> None:
        """What cancelled attempts cost is written last: the next run would count it, but a person looks now."""
        items: list[Item] = []
        while not self._queue.empty():
            if isinstance(item := self._queue.get_nowait(), Charge):
                items.append(item)
        if items:
            with suppress(AotError, OSError):  # their records are on disk: the next run counts them
                self._act_on(await self._exchange(items))

    def _watchers(self) -> Iterator[asyncio._CoroutineLike[None]]:
        yield watch_file(self._ledger, partial(self._queue.put_nowait, None))
        yield watch_dialogue(self._store.path, self._run, self._queue.put_nowait)
        yield watch_blocked(self._run, self._queue.put_nowait)
        if (branch := self._context.isolation.branch) is not None:
            yield watch_branch(branch, self._queue.put_nowait)
        yield watch_lease(self._renew, self._queue.put_nowait)
        yield watch_time(self._ledger, partial(RunTime(self._context.root).note, self._context.run_id))

    async def _conduct(self) -> None:
        items = self._opening()
        while True:
            exchanged = await self._exchange(items)
            self._act_on(exchanged)
            if self._run.finished:
                return
            items = await self._reported()

    def _opening(self) -> list[Item]:
        start, recovery = self._start, self._start.recovery
        self._run.to_revert += recovery.given_up
        items: list[Item] = []
        if start.is_resumed:  # a request to the run that died is not a request to this one
            items.append(self._stop_what_died)
        commit = None if recovery.found else start.commit  # found results are taken up before an attempt can start
        digest = start.objective_digest
        items.append(reports.Began(at=now(), run_id=start.run_id, objective_digest=digest, commit=commit))
        items.append(lambda _: self._asked_meanwhile)
        items.append(partial(self._performer.inheritance.settle, recovery))
        items += [partial(self._performer.inheritance.take_up, record) for record in recovery.found]
        return items

    def _stop_what_died(self, _: Exchanged) -> None:
        control = self._run.loop.control
        if control.status != "running":
            return
        if control.stop_requested and not self._was_asked_to_stop:
            request = events.StopRequested(reason=control.stop_reason or "stop requested")
            self._asked_meanwhile = reports.Happened(at=now(), event=request)
        self._run.advance(events.LoopStopped(reason=control.stop_reason))

    async def _reported(self) -> list[Item]:
        """All reports so far; if there are none, waits for one, until a limit of time is reached."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds_left()):
                first = await self._queue.get()
                items = [first]
                while not self._queue.empty():
                    items.append(self._queue.get_nowait())
                return [item for item in items if item is not None]
        return [reports.Happened(at=now(), event=events.Spent())]  # time has passed

    def _seconds_left(self) -> float | None:
        limit, control = self._run.limits.max_runtime, self._run.loop.control
        if limit is None or self._ledger.is_idle:
            return None
        left = seconds(limit) - control.ran_seconds
        is_known = left <= 0 and self._run.ending is not None  # what ran has been ended
        return None if is_known else max(left, 0.0) + 0.01

    async def _exchange(self, items: list[Item]) -> Exchanged:
        """Waits for the repair of a file with a person's mistake in it: nothing is lost, and nothing new begins."""
        began, is_told = time.monotonic(), False
        while True:
            try:
                return await in_thread(partial(self._ledger.exchange, items))
            except (StateFileInvalid, StateFileMissing) as error:
                is_missing = isinstance(error, StateFileMissing)
                patience = _SAVING_PATIENCE if is_missing else _MENDING_PATIENCE
                if time.monotonic() > began + patience or self._signal is not None:
                    raise
                if not is_told and not is_missing:
                    is_told = True
                    text = f"the state file cannot be read; the run waits until it is corrected: {error.message}"
                    self._context.tell(run_events.Warned(at=now(), text=text))
                items = []  # the items are not lost
                await asyncio.sleep(_PAUSE)

    def _act_on(self, exchanged: Exchanged) -> None:
        loop = self._ledger.loop
        self._observer.loop_changed(loop)
        self._context.edited((*exchanged.taken, *exchanged.restored))
        for text in self._ledger.warnings():
            self._context.tell(run_events.Warned(at=now(), text=text))
        for text in exchanged.taken:
            self._context.tell(run_events.CorrectionTaken(at=now(), text=text))
        for text in exchanged.restored:
            self._context.tell(
                run_events.Warned(at=now(), text=f"restored what an edit of the file had undone: {text}")
            )
        for then in exchanged.afterwards:
            then()
        for effect in exchanged.effects:
            if isinstance(effect, effects.Finished):
                self._finished = effect
            self._performer.perform(effect, loop)
        self._tell_generations(loop)
        self._tell_pause(loop)
        if (half := self._headway.after(loop)) is not None:
            self._context.tell(half)

    def _tell_generations(self, loop: Loop) -> None:
        control = loop.control
        is_under_way = self._run.is_open and not self._run.finished
        ended = control.iteration - is_under_way
        for number in range(self._generations_told + 1, ended + 1):
            self._context.tell(run_events.GenerationEnded(at=now(), iteration=number, stall_count=control.stall_count))
        self._generations_told = max(ended, self._generations_told)

    def _tell_pause(self, loop: Loop) -> None:
        if loop.control.paused == self._is_paused or self._run.finished:
            return
        self._is_paused = loop.control.paused
        running = self._run.all_attempts()
        names = tuple(self._context.name_of(attempt.atom, attempt.number) for attempt in running)
        at = now()
        self._context.tell(run_events.Paused(at=at, running=names) if self._is_paused else run_events.PauseEnded(at=at))

    def _ending(self) -> Ending:
        if self._finished is None:
            raise AssertionError("a run that was driven to its end is finished")
        worked = self._run.next_number > self._start.recovery.first_attempt
        return Ending(
            loop=self._ledger.loop,
            status=self._finished.status,
            reason=self._finished.reason,
            worked=worked,
            signal=self._signal,
        )

    # --- signals -------------------------------------------------------------------------------------------------

    def _interrupt(self, number: int) -> None:
        """First signal: an orderly stop. Second signal: an immediate stop."""
        if self._signal is None:
            self._signal = number
            reason = interruption(number)
            self._queue.put_nowait(reports.Happened(at=now(), event=events.StopRequested(reason=reason)))
        else:
            self._tasks.hurry()


def interruption(number: int) -> str:
    if number == signal.SIGHUP:
        return "the terminal was closed (SIGHUP)"
    return f"interrupted by {signal.Signals(number).name}"


def _expected(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first of them, if all are errors that a person can meet; else the group, which is a bug.

    Not by `except*`: Python 3.11.2 makes a group of what is raised there.
    """
    error: BaseException = errors
    if errors.split((AotError, OSError))[1] is None:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
    return error
