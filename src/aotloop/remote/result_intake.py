"""What came back from a worker, as this run uses it. A result is treated like an agent's: examined, then committed.

The pack is examined strictly, the changed paths are computed here, protected paths are refused here, and the commit is
made here, with our names and trailers.
"""

from __future__ import annotations

from contextlib import suppress

from aotloop.agents import contract
from aotloop.errors import Unavailable
from aotloop.execution.attempts.maker import Brought, Order
from aotloop.execution.budget import priced
from aotloop.execution.integration.protection import Protection, words_for
from aotloop.execution.isolation.place import Refusal
from aotloop.execution.journals.records import Work
from aotloop.git.commits import attempt_commit
from aotloop.git.commits.objects import ATOM, ATTEMPT, RUN, commit_tree, message_of
from aotloop.git.commits.transfer import Received, drop_result, fetch_result, receive_tree
from aotloop.git.repository import Repository
from aotloop.git.trees.submodules import SUBMODULE
from aotloop.remote.wire import AttemptOrder, AttemptResult


class ResultIntake:
    def __init__(self, repository: Repository, protection: Protection, url: str | None) -> None:
        self._repository = repository
        self._protection = protection
        self._url = url

    def brought(self, order: Order, sent: AttemptOrder, result: AttemptResult) -> Brought:
        """Blocks. Raises Unavailable if what came back is damaged or forged."""
        if result.outcome is None:
            raise Unavailable("a worker sent a result without an outcome")
        outcome = priced(result.outcome, order.seat.price)
        return Brought(
            outcome=outcome,
            work=self._work(order, sent, result),
            is_untouched=result.is_untouched and result.tree is None,
            start=sent.start if result.is_warm else None,
            found=result.found,
        )

    def _work(self, order: Order, sent: AttemptOrder, result: AttemptResult) -> Work | Refusal | None:
        task = order.task
        is_claim = isinstance(result.outcome, contract.Done | contract.Garbage)
        if result.refusal is not None:
            return Refusal(result.refusal)
        if result.tree is None:
            return Work(base=sent.base, attempt=task.number, left_out=result.left_out) if is_claim else None
        received = self._received(sent, result)
        if not received.changes:
            return Work(base=sent.base, attempt=task.number, left_out=result.left_out) if is_claim else None
        refused = self._refused(received)
        trailers = {ATOM: task.name, ATTEMPT: str(task.number), RUN: task.run_id} if is_claim else {}
        title = task.title if is_claim else f"what attempt {task.number} on {task.name} left"
        commit = commit_tree(self._repository.place, received.tree, sent.base, message_of(title, trailers))
        attempt_commit.keep(self._repository, commit, atom=task.name, attempt=task.number)
        if refused:
            return Refusal(words_for(refused))
        return Work(commit=commit, base=sent.base, attempt=task.number, left_out=result.left_out)

    def _received(self, sent: AttemptOrder, result: AttemptResult) -> Received:
        if result.ref is None:
            return receive_tree(self._repository, result.pack, result.tree or "", sent.base)
        if result.ref != result_ref(sent):
            raise Unavailable("a worker sent the result of another attempt")
        try:
            fetch_result(self._repository, self._url, result.ref)
            return receive_tree(self._repository, b"", result.tree or "", sent.base)
        finally:
            with suppress(Unavailable):
                drop_result(self._repository, self._url, result.ref)

    def _refused(self, received: Received) -> tuple[str, ...]:
        odd = [change.path for change in received.changes if SUBMODULE in (change.mode, change.mode_before)]
        paths = [change.path for change in received.changes]
        return tuple(dict.fromkeys((*self._protection.refused(paths, self._repository.prefix), *odd)))


def result_ref(order: AttemptOrder) -> str:
    return f"refs/aot/results/{order.id}"
