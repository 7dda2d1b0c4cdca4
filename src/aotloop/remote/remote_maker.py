"""Attempts on other machines: each order becomes one activity of a Temporal server, which a worker carries out.

If the runner dies, the work goes on; the next run adopts it: the next attempt at the same atom, in the same role and
epoch, follows the old activity instead of starting a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from temporalio.client import ActivityHandle
from temporalio.service import RPCError

from aotloop.agents.attempt.attempt_output import UNEVENTFUL, Transcript
from aotloop.agents.attempt.scratch import TRANSCRIPT
from aotloop.agents.contract import MustWait
from aotloop.errors import AotError, Unavailable
from aotloop.execution.attempts.maker import Brought, Lost, Order
from aotloop.execution.threads import in_thread
from aotloop.remote.activities import Activities
from aotloop.remote.activity_poll import Closed, Terms
from aotloop.remote.adoption import Adopted
from aotloop.remote.attempt_order import Offer, written_order
from aotloop.remote.earlier_bills import Counted
from aotloop.remote.link import Link
from aotloop.remote.result_intake import ResultIntake
from aotloop.remote.whereabouts import Whereabouts, forget, note
from aotloop.remote.wire import ATTEMPT, LARGEST_MESSAGE, AttemptOrder, AttemptResult, Beat, belongs_to

_MARGIN = 300.0
"""Seconds for fetching, committing and sending, besides the limits of agent, set-up and check."""

_LONGEST = 7 * 24 * 3600.0
_PAUSE, _LONGEST_PAUSE = 2.0, 60.0
UNTIL_TOLD = 10.0
"""Seconds that an order waits until a person hears that there are no workers for it."""


class RemoteMaker:
    def __init__(
        self,
        *,
        link: Link,
        offer: Offer,
        queue_of: Callable[[str], str | None],
        records: Callable[[str, int], Path],
        on_output: Callable[[int, str], None],
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`queue_of`: the queue for an agent. `records`: our folder for an attempt, by task and number."""
        self._link = link
        self._offer = offer
        self._queue_of = queue_of
        self._records = records
        self._on_output = on_output
        self._warn = warn
        self._without: set[str] = set()
        """Queues of which a person has heard that they have no workers."""
        self._intake = ResultIntake(offer.repository, offer.protection, offer.url)
        self._losses: dict[str, int] = {}

    @asynccontextmanager
    async def make(self, order: Order) -> AsyncIterator[Brought | Lost]:
        folder = self._records(order.task.name, order.task.number)
        try:
            yield self._spaced(order, await self._made(order, folder))
        finally:
            forget(folder)  # its result is on disk, or not wanted

    def _spaced(self, order: Order, made: Brought | Lost) -> Brought | Lost:
        """Losses in a row of the same task are further and further apart: a server may be away for minutes."""
        name = order.task.name
        if not isinstance(made, Lost):
            self._losses.pop(name, None)
            return made
        before = self._losses.get(name, 0)
        self._losses[name] = before + 1
        return replace(made, ended=replace(made.ended, retry_after=min(_PAUSE * 2**before, _LONGEST_PAUSE)))

    async def _made(self, order: Order, folder: Path) -> Brought | Lost:
        try:
            activities, adopted = await self._link.ready(order.task.epoch)
            taken = adopted.take(order.task.name, order.task.role)
            sent = taken.order if taken is not None else await in_thread(partial(written_order, self._offer, order))
            return await self._followed(activities, order, sent, taken, folder)
        except RPCError as error:
            return _lost(f"the Temporal server does not answer: {error.message}")

    async def _followed(
        self, activities: Activities, order: Order, sent: AttemptOrder, taken: Adopted | None, folder: Path
    ) -> Brought | Lost:
        terms = self._terms(order, sent)
        found = Whereabouts(id=sent.id, queue=terms.queue, is_adopted=taken is not None)
        listener = _Listener(order, found, folder, self._on_output)
        listener.counted = taken.counted if taken is not None else listener.counted
        listener.note()
        handle = taken.handle if taken is not None else await self._start(activities, sent, terms)
        waiting = asyncio.create_task(self._look_for_workers(terms.queue, listener))
        try:
            closed = await activities.follow(handle, terms, listener.beat, listener.waits, listener.farewell)
            return await self._brought(order, sent, closed, listener)
        finally:
            waiting.cancel()
            listener.close()

    async def _look_for_workers(self, queue: str, listener: _Listener) -> None:
        await asyncio.sleep(UNTIL_TOLD)
        if listener.is_taken or queue in self._without:
            return
        self._without.add(queue)
        if not await self._link.is_deserted(queue):
            self._without.discard(queue)
            return
        self._warn(f"no worker asks for orders of the queue {queue}: attempts wait for one; `aot doctor` looks at it")

    async def _start(self, activities: Activities, sent: AttemptOrder, terms: Terms) -> ActivityHandle[bytes]:
        content = msgspec.json.encode(sent)
        if len(content) > LARGEST_MESSAGE:
            raise Unavailable(f"the order for {sent.atom} is too large to be sent: {len(content)} bytes")
        return await activities.start(ATTEMPT, sent.id, content, terms, f"{sent.atom} #{sent.attempt}")

    def _terms(self, order: Order, sent: AttemptOrder) -> Terms:
        offer, total = self._offer, sent.limits.total
        return Terms(
            queue=self._queue_of(order.seat.agent) or "",
            total=_LONGEST if total is None else total + sent.setup.timeout + sent.check_timeout * 10 + _MARGIN,
            heartbeat=offer.heartbeat,
            wait=offer.wait,
            first_sign=offer.first_sign,
        )

    async def _brought(self, order: Order, sent: AttemptOrder, closed: Closed, listener: _Listener) -> Brought | Lost:
        spent = order.meter
        if closed.content is None:
            error = Unavailable(f"a worker refuses the order: {closed.reason}") if closed.is_refused else None
            return _lost(closed.reason, error, cost_usd=spent.cost_usd, tokens=spent.tokens)
        try:
            result = listener.result(closed.content)
        except msgspec.MsgspecError as unread:
            return _lost("", Unavailable(f"the result of a worker cannot be read: {unread}"))
        if result.last is not None:
            listener.heard(result.last)
        if not belongs_to(result, sent):
            return _lost("a worker sent the result of another attempt")
        if result.kind != "made":
            error = (
                Unavailable(f"the worker {result.host} refuses: {result.reason}") if result.kind == "refused" else None
            )
            reason = result.reason or "its worker was stopped"
            return _lost(reason, error, cost_usd=result.cost_usd, tokens=result.tokens)
        try:
            return await in_thread(partial(self._intake.brought, order, sent, result))
        except AotError as refused:
            ended = result.outcome
            cost = ended.cost_usd if ended is not None else None
            tokens = ended.tokens if ended is not None else None
            return _lost(f"the result of {result.host} was refused: {refused.message}", cost_usd=cost, tokens=tokens)


class _Listener:
    """Passes on what a worker says while it works."""

    def __init__(self, order: Order, found: Whereabouts, folder: Path, on_output: Callable[[int, str], None]) -> None:
        self._order = order
        self.counted = Counted()
        self._found = found
        self._folder = folder
        self._on_output = on_output
        self._transcript = Transcript(folder / TRANSCRIPT)
        self._seen = 0

    @property
    def is_taken(self) -> bool:
        return bool(self._found.host)

    def note(self) -> None:
        note(self._folder, self._found)

    def beat(self, content: bytes) -> None:
        with suppress(msgspec.MsgspecError):
            self.heard(msgspec.json.decode(content, type=Beat))
            self.note()

    def result(self, content: bytes) -> AttemptResult:
        """Raises MsgspecError."""
        return self.counted.rest_of(msgspec.json.decode(content, type=AttemptResult))

    def heard(self, told: Beat) -> None:
        where = (self._found.host, self._found.phase)
        self._order.meter.read(*self.counted.rest(told.tokens, told.cost_usd))
        line = told.lines[-1] if told.lines else ""
        self._found = replace(self._found, host=told.host, phase=told.phase, line=line[:500], cost_usd=told.cost_usd)
        if (told.host, told.phase) != where:
            self._say(self._found.words)
        new = max(told.seen - self._seen, 0)
        self._seen = max(told.seen, self._seen)
        for line in told.lines[-new:] if new else ():
            self._say(line)

    def waits(self) -> None:
        self._say(self._found.words)

    def _say(self, line: str) -> None:
        """Other terminals read it in the transcript; the whole of that is on the worker."""
        self._transcript.add("stdout", [line])
        self._on_output(self._order.task.number, line)

    def close(self) -> None:
        self._transcript.close({}, UNEVENTFUL)

    def farewell(self, closed: Closed) -> None:
        if closed.content is None:
            return
        with suppress(msgspec.MsgspecError):
            result = self.result(closed.content)
            spent = result.outcome or result
            if spent.tokens is not None or spent.cost_usd is not None:
                self._order.meter.read(spent.tokens, spent.cost_usd)


def _lost(reason: str, error: AotError | None = None, **spent: Any) -> Lost:
    ended = MustWait(reason=error.message if error is not None else reason, retry_after=_PAUSE)
    return Lost(ended=replace(ended, **spent), error=error)
