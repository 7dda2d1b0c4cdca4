"""One attempt on a worker: the same maker as at home, in a worktree of a mirror; then what it left, as a tree.

A worker carries out only orders for repositories and agents that its own configuration names.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec.structs import replace
from temporalio import activity
from temporalio.client import Client

from aotloop.agents.contract import Backend, Done, Meter
from aotloop.core.effects import Role
from aotloop.errors import AotError
from aotloop.execution.agent_pool import Seat
from aotloop.execution.conversation import Conversations
from aotloop.execution.isolation.place import Refusal
from aotloop.execution.isolation.worktree import Worktrees
from aotloop.execution.local_maker import LocalMaker
from aotloop.execution.maker import Brought, Lost, Order
from aotloop.execution.records import Work
from aotloop.execution.task import Task
from aotloop.execution.threads import in_thread
from aotloop.execution.verification import Found, Verification
from aotloop.git.repository import Repository
from aotloop.git.transfer import send_result, thin_pack, tree_of
from aotloop.remote.delivery import Delivery, Parcel
from aotloop.remote.lifeline import lifeline
from aotloop.remote.mirrors import Mirrors, free_space
from aotloop.remote.result_intake import result_ref
from aotloop.remote.wire import ATTEMPT, LARGEST_INLINE, AttemptOrder, AttemptResult, Beat, read_check

_TAIL = 20
_LONGEST_LINE = 500


class Acceptance(msgspec.Struct, frozen=True, kw_only=True):
    """What this worker accepts, by its own configuration."""

    repositories: tuple[str, ...]
    agents: tuple[str, ...]
    free_space: int

    def refusal(self, order: AttemptOrder) -> str | None:
        if order.repository not in self.repositories:
            return f"its configuration does not name the repository {order.repository} ([worker.repositories])"
        if order.agent not in self.agents:
            return f"its configuration does not name the agent {order.agent} (`agents` in [worker])"
        return None


class Status:
    """What is told about an attempt while it runs."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._lines: list[str] = []
        self._seen = 0
        self.phase = "fetching"
        self.meter = Meter()

    def heard(self, _: int, line: str) -> None:
        self._seen += 1
        self._lines = [*self._lines[1 - _TAIL :], line[:_LONGEST_LINE]]

    def beat(self) -> bytes:
        return msgspec.json.encode(self.told())

    def told(self) -> Beat:
        return Beat(
            phase=self.phase,
            host=self._host,
            lines=tuple(self._lines),
            seen=self._seen,
            cost_usd=self.meter.cost_usd,
            tokens=self.meter.tokens,
        )


class AttemptActivity:
    def __init__(
        self,
        *,
        client: Client,
        home: Path,
        mirrors: Mirrors,
        delivery: Delivery,
        acceptance: Acceptance,
        hire: Callable[[str, Role], Backend],
        mark: str,
        host: str = "",
    ) -> None:
        """`mark`: the value of AOT_RUN_ID of all processes of this worker."""
        self._client = client
        self._home = home
        self._mirrors = mirrors
        self._delivery = delivery
        self._acceptance = acceptance
        self._hire = hire
        self._mark = mark
        self._host = host or socket.gethostname()

    @activity.defn(name=ATTEMPT)
    async def attempt(self, content: bytes) -> bytes:
        order = msgspec.json.decode(content, type=AttemptOrder)
        status = Status(self._host)
        work = asyncio.create_task(self._result(order, status))
        async with lifeline(self._client, work, status.beat) as ended:
            while not work.done():
                try:
                    await asyncio.wait([work])
                except asyncio.CancelledError:  # this worker ends
                    work.cancel()
            result = replace(self._ended(work, order, status, ended.reason), last=status.told())
            status.phase = "delivering"
            parcel = Parcel(token=activity.info().task_token, content=msgspec.json.encode(result))
            await asyncio.shield(asyncio.ensure_future(self._delivery.deliver(parcel)))
        _is_delivered()

    def _ended(
        self, work: asyncio.Task[AttemptResult], order: AttemptOrder, status: Status, reason: str
    ) -> AttemptResult:
        spent = {"cost_usd": status.meter.cost_usd, "tokens": status.meter.tokens}
        if work.cancelled():
            kind = "cancelled" if reason else "hindered"
            return replace(self._answer(order, kind, reason or "its worker was stopped"), **spent)
        error = work.exception()
        if error is not None:
            return replace(self._answer(order, "hindered", _said(error)), **spent)
        return work.result()

    def _answer(self, order: AttemptOrder, kind: str, reason: str = "") -> AttemptResult:
        return AttemptResult(
            run_id=order.run_id,
            atom=order.atom,
            attempt=order.attempt,
            epoch=order.epoch,
            kind=kind,  # type: ignore[arg-type]
            reason=reason,
            host=self._host,
        )

    async def _result(self, order: AttemptOrder, status: Status) -> AttemptResult:
        if (refusal := self._acceptance.refusal(order)) is not None:
            return self._answer(order, "refused", refusal)
        if free_space(self._home) < self._acceptance.free_space:
            return self._answer(order, "hindered", f"the disk of {self._host} is nearly full")
        repository = await in_thread(partial(self._mirrors.fetch, order))
        status.phase = "setting up"
        worktrees = await in_thread(partial(self._mirrors.worktrees, repository, order))
        maker = LocalMaker(
            isolation=worktrees,
            records=lambda _, __: self._home / "attempts" / order.id,
            state_file=self._home / "no-state-file",
            on_output=partial(_heard, status),
            conversations=Conversations(),
        )
        async with maker.make(self._order(order, status)) as brought:
            if isinstance(brought, Lost):
                return self._answer(order, "refused" if brought.error else "hindered", brought.ended.reason)
            status.phase = "checking"
            found = await self._found(worktrees, order, brought)
            status.phase = "sending"
            return await in_thread(partial(self._written, repository, order, brought, found))

    def _order(self, order: AttemptOrder, status: Status) -> Order:
        task = Task(
            name=order.atom,
            number=order.attempt,
            run_id=self._mark,
            epoch=order.epoch,
            role=order.role,
            description=order.description,
            prompt=lambda _, start, __: order.prompts.get(start.folder) or order.prompts.get("fresh", ""),
            command=order.command,
            results=order.results,
            check=read_check(order.check) if order.check is not None else None,
            touches=order.touches,
            allowance=order.allowance,
        )
        seat = Seat(agent=order.agent, backend=self._hire(order.agent, order.role), limits=order.limits)
        return Order(task=task, seat=seat, start=order.start, base=order.base, meter=status.meter)

    async def _found(self, worktrees: Worktrees, order: AttemptOrder, brought: Brought) -> Found | None:
        """What the check finds at the commit, in a clean tree that the agent could not reach."""
        work = brought.work
        if order.check is None or not isinstance(work, Work) or not _is_claim(brought):
            return None
        verification = Verification(timeout=order.check_timeout, variables={"AOT_RUN_ID": self._mark})
        async with worktrees.to_check(work.commit or order.base) as clean:
            return await verification.found(read_check(order.check), clean.cwd, None, clean.confinement)

    def _written(
        self, repository: Repository, order: AttemptOrder, brought: Brought, found: Found | None
    ) -> AttemptResult:
        work = brought.work
        result = replace(
            self._answer(order, "made"),
            outcome=brought.outcome,
            refusal=work.reason if isinstance(work, Refusal) else None,
            left_out=work.left_out if isinstance(work, Work) else (),
            is_untouched=brought.is_untouched,
            is_warm=brought.start is not None,
            found=found,
        )
        if not isinstance(work, Work) or work.commit is None:
            return result
        tree = tree_of(repository, work.commit)
        pack = thin_pack(repository, tree, order.base)
        if len(pack) <= LARGEST_INLINE:
            return replace(result, tree=tree, pack=pack)
        if not _is_claim(brought):  # evidence is not worth so much
            return result
        ref = result_ref(order)
        send_result(repository, self._mirrors.url_of(order), work.commit, ref)
        return replace(result, tree=tree, ref=ref)


def _is_claim(brought: Brought) -> bool:
    return isinstance(brought.outcome, Done) or (
        brought.outcome.__class__.__name__ == "Garbage" and isinstance(brought.work, Work)
    )


def _heard(status: Status, number: int, line: str) -> None:
    status.phase = "working"
    status.heard(number, line)


def _is_delivered() -> NoReturn:
    activity.raise_complete_async()


def _said(error: BaseException) -> str:
    return error.message if isinstance(error, AotError) else f"{type(error).__name__}: {error}"
