"""Checks of commits on other machines, so that the runner is no bottleneck: each is one activity, as an attempt is.

An order is known by what is checked. So a run after a crash finds the findings of the run before, or the check that
still runs. A check costs nothing: if a worker does not take it soon, or is lost, it is made on this machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace
from temporalio.service import RPCError

from aotloop.clock import unix_time
from aotloop.core.checks.checklist import leaves
from aotloop.errors import AotError
from aotloop.execution.checker import Checked, CheckOrder, Unchecked
from aotloop.execution.threads import in_thread
from aotloop.git.commits.transfer import tree_of
from aotloop.remote.activities import Activities
from aotloop.remote.activity_poll import Closed, Terms
from aotloop.remote.attempt_order import Offer, setup_order
from aotloop.remote.link import Link
from aotloop.remote.whereabouts import Whereabouts, forget, note
from aotloop.remote.wire import (
    CHECK,
    LARGEST_MESSAGE,
    SKEW,
    Beat,
    CommitCheckOrder,
    CommitCheckResult,
    check_queue,
    read_check,
    written_check,
)

WAIT = 20.0
"""Seconds for a worker to take a check: a merge waits for it."""

_HEARTBEAT, _PATIENCE, _MARGIN = 30.0, 20.0, 60.0
_MOST_TURNS = 3
_FIRST_REST, _LONGEST_REST = 30.0, 900.0


class RemoteChecker:
    def __init__(
        self,
        *,
        link: Link,
        offer: Offer,
        run_id: str,
        queue: str,
        records: Callable[[str, int], Path],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._offer = offer
        self._run_id = run_id
        self._queue = check_queue(queue)
        self._records = records
        self._clock = clock
        self._losses = 0
        self._rests_until = 0.0

    async def check(self, order: CheckOrder) -> Checked | Unchecked:
        if self._clock() < self._rests_until:
            return Unchecked(reason="workers did not answer a moment ago")
        try:
            checked = await self._checked(order)
        except (AotError, OSError) as error:
            checked = Unchecked(reason=error.message if isinstance(error, AotError) else str(error))
        except RPCError as error:
            checked = Unchecked(reason=f"the Temporal server does not answer: {error.message}")
        self._note(checked)
        return checked

    def _note(self, checked: Checked | Unchecked) -> None:
        """No merge waits again soon for workers that are not there."""
        self._losses = self._losses + 1 if isinstance(checked, Unchecked) else 0
        if self._losses:
            rest = min(_FIRST_REST * 2 ** (self._losses - 1), _LONGEST_REST)
            self._rests_until = self._clock() + rest

    async def _checked(self, order: CheckOrder) -> Checked | Unchecked:
        activities, adopted = await self._link.ready(order.epoch)
        sent = await in_thread(partial(self._written, order))
        folder = self._records(order.task, order.attempt)
        reason = ""
        for turn in range(1, _MOST_TURNS + 1):
            sent = replace(sent, turn=turn)
            adopted.take_check(sent.id)
            try:
                closed, is_ours = await self._closed(activities, sent, folder)
            finally:
                forget(folder)
            checked = findings(sent, closed)
            if isinstance(checked, Checked):
                return checked
            reason = checked.reason
            if is_ours:  # what an earlier run left came to nothing: then it is ordered anew
                break
        return Unchecked(reason=reason)

    def _written(self, order: CheckOrder) -> CommitCheckOrder:
        """Blocks: the commit is published first. Raises Unavailable."""
        offer, commit = self._offer, order.commit or ""
        offer.publish(commit)
        return CommitCheckOrder(
            run_id=self._run_id,
            atom=order.task,
            attempt=order.attempt,
            epoch=order.epoch,
            repository=offer.name,
            base=commit,
            tree=tree_of(offer.repository, commit),
            prefix=offer.repository.prefix,
            check=written_check(order.check),
            check_timeout=offer.check_timeout,
            protection=offer.protection,
            setup=setup_order(offer.setup),
            expires=unix_time() + WAIT + SKEW,
        )

    async def _closed(self, activities: Activities, sent: CommitCheckOrder, folder: Path) -> tuple[Closed, bool]:
        """How it ended, and whether this call started it."""
        terms, content = self._terms(sent), msgspec.json.encode(sent)
        if len(content) > LARGEST_MESSAGE:
            return Closed(reason=f"the order is too large to be sent: {len(content)} bytes"), True
        found = Whereabouts(id=sent.id, queue=terms.queue)
        handle = await activities.start(CHECK, sent.id, content, terms, f"check of {sent.atom} #{sent.attempt}")
        closed = await activities.follow(handle, terms, partial(_beat, folder, found), lambda: note(folder, found))
        return closed, handle.run_id is not None

    def _terms(self, sent: CommitCheckOrder) -> Terms:
        offer = self._offer
        count = sum(1 for _ in leaves(read_check(sent.check)))
        return Terms(
            queue=self._queue,
            total=sent.check_timeout * count + sent.setup.timeout + _MARGIN,
            heartbeat=min(offer.heartbeat, _HEARTBEAT),
            wait=min(offer.wait, WAIT),
            first_sign=offer.first_sign,
            patience=_PATIENCE,
        )


def findings(sent: CommitCheckOrder, closed: Closed) -> Checked | Unchecked:
    """The findings count only for what was asked."""
    if closed.content is None:
        return Unchecked(reason=closed.reason)
    try:
        result = msgspec.json.decode(closed.content, type=CommitCheckResult)
    except msgspec.MsgspecError as unread:
        return Unchecked(reason=f"the findings of a worker cannot be read: {unread}")
    if (result.run_id, result.epoch, result.id) != (sent.run_id, sent.epoch, sent.id):
        return Unchecked(reason="a worker sent the findings of another check")
    if result.kind != "made" or result.found is None:
        return Unchecked(reason=f"{result.host}: {result.reason}")
    if result.tree != sent.tree:
        return Unchecked(reason=f"{result.host} checked other files")
    return Checked(found=result.found, host=result.host)


def _beat(folder: Path, found: Whereabouts, content: bytes) -> None:
    with suppress(msgspec.MsgspecError):
        told = msgspec.json.decode(content, type=Beat)
        note(folder, replace(found, host=told.host, phase=told.phase))
