"""One check on a worker: the commit of the order, in a clean tree that no attempt can reach, behind the fence.

It runs the same code as on the runner's machine; only the findings travel back, and the tree that was checked.
"""

from __future__ import annotations

from functools import partial

import msgspec
from msgspec.structs import replace
from temporalio import activity

from aotloop.execution.checker import CheckOrder, LocalChecker
from aotloop.execution.threads import in_thread
from aotloop.execution.verification import Verification
from aotloop.git.commits.transfer import tree_of
from aotloop.remote.wire import CHECK, CommitCheckOrder, CommitCheckResult, read_check
from aotloop.remote.worker.workbench import Status, Workbench


class CheckActivity:
    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    @activity.defn(name=CHECK)
    async def check(self, content: bytes) -> bytes:
        order = msgspec.json.decode(content, type=CommitCheckOrder)
        status = Status(self._bench.host)
        await self._bench.carry_out(self._result(order, status), status, partial(self._without, order))

    def _without(self, order: CommitCheckOrder, kind: str, reason: str) -> CommitCheckResult:
        """Findings that cannot be sent are made again by the runner."""
        return self._answer(order, "hindered" if kind == "oversized" else kind, reason)

    def _answer(self, order: CommitCheckOrder, kind: str, reason: str = "") -> CommitCheckResult:
        return CommitCheckResult(
            run_id=order.run_id,
            epoch=order.epoch,
            id=order.id,
            kind=kind,  # type: ignore[arg-type]
            reason=reason,
            host=self._bench.host,
        )

    async def _result(self, order: CommitCheckOrder, status: Status) -> CommitCheckResult:
        bench = self._bench
        if (hindrance := bench.acceptance.hindrance()) is not None:
            return self._answer(order, "hindered", hindrance)
        if (refusal := bench.acceptance.refusal(order, activity.info().activity_id)) is not None:
            return self._answer(order, "refused", refusal)
        repository = await in_thread(partial(bench.mirrors.fetch, order))
        tree = await in_thread(partial(tree_of, repository, order.base))
        if tree != order.tree:
            return self._answer(order, "refused", f"the commit {order.base[:12]} has another tree than the order says")
        status.phase = "checking"
        worktrees = await in_thread(partial(bench.mirrors.worktrees, repository, order))
        checker = LocalChecker(worktrees, Verification(timeout=order.check_timeout, variables=bench.environ))
        checked = await checker.check(CheckOrder(check=read_check(order.check), commit=order.base))
        return replace(self._answer(order, "made"), tree=tree, found=checked.found)
