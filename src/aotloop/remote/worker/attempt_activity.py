"""One attempt on a worker: the same maker as at home, in a worktree of a mirror; then what it left, as a tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from msgspec.structs import replace
from temporalio import activity

from aotloop.agents.contract import Backend, Done, Failed
from aotloop.core.effects import Role
from aotloop.execution.agent_pool import Seat
from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.attempts.local_maker import LocalMaker
from aotloop.execution.attempts.maker import Brought, Lost, Order
from aotloop.execution.isolation.place import Refusal
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.execution.journals.records import Work
from aotloop.execution.task import Task
from aotloop.execution.threads import in_thread
from aotloop.execution.verification import Found, Verification
from aotloop.git.commits.transfer import send_result, thin_pack, tree_of
from aotloop.git.repository import Repository
from aotloop.remote.result_intake import result_ref
from aotloop.remote.wire import ATTEMPT, LARGEST_INLINE, AttemptOrder, AttemptResult, read_check
from aotloop.remote.worker.workbench import Status, Workbench


class AttemptActivity:
    def __init__(self, bench: Workbench, hire: Callable[[str, Role], Backend]) -> None:
        self._bench = bench
        self._hire = hire

    @activity.defn(name=ATTEMPT)
    async def attempt(self, content: bytes) -> bytes:
        order = msgspec.json.decode(content, type=AttemptOrder)
        status = Status(self._bench.host)
        await self._bench.carry_out(
            self._result(order, status),
            status,
            partial(self._without, order, status),
            lambda result: replace(result, last=status.told()),
        )

    def _without(self, order: AttemptOrder, status: Status, kind: str, reason: str) -> AttemptResult:
        cost, tokens = status.meter.cost_usd, status.meter.tokens
        if kind == "oversized":  # it is paid for
            outcome = Failed(reason=reason, cost_usd=cost, tokens=tokens)
            return replace(self._answer(order, "made"), outcome=outcome)
        return replace(self._answer(order, kind, reason), cost_usd=cost, tokens=tokens)

    def _answer(self, order: AttemptOrder, kind: str, reason: str = "") -> AttemptResult:
        return AttemptResult(
            run_id=order.run_id,
            atom=order.atom,
            attempt=order.attempt,
            epoch=order.epoch,
            nonce=order.nonce,
            kind=kind,  # type: ignore[arg-type]
            reason=reason,
            host=self._bench.host,
        )

    async def _result(self, order: AttemptOrder, status: Status) -> AttemptResult:
        bench = self._bench
        if (hindrance := bench.acceptance.hindrance()) is not None:
            return self._answer(order, "hindered", f"{bench.host}: {hindrance}")
        if (refusal := bench.acceptance.refusal(order, activity.info().activity_id)) is not None:
            return self._answer(order, "refused", refusal)
        repository = await in_thread(partial(bench.mirrors.fetch, order))
        status.phase = "setting up"
        worktrees = await in_thread(partial(bench.mirrors.worktrees, repository, order))
        maker = LocalMaker(
            isolation=worktrees,
            records=lambda _, __: bench.home / "attempts" / order.id,
            state_file=bench.home / "no-state-file",
            on_output=partial(_heard, status),
            conversations=Conversations(),
            keeps_evidence=False,  # of a cancelled attempt, only its bill travels
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
            run_id=self._bench.mark,
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
        verification = Verification(timeout=order.check_timeout, variables=self._bench.environ)
        async with worktrees.to_check(work.commit or order.base) as clean:
            return await verification.found(
                read_check(order.check), clean.cwd, None, clean.confinement, clean.observation
            )

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
        send_result(repository, self._bench.mirrors.url_of(order), work.commit, ref)
        return replace(result, tree=tree, ref=ref)


def _is_claim(brought: Brought) -> bool:
    return isinstance(brought.outcome, Done) or (
        brought.outcome.__class__.__name__ == "Garbage" and isinstance(brought.work, Work)
    )


def _heard(status: Status, _: int, line: str) -> None:
    status.phase = "working"
    status.heard(line)
