"""Refused work: a commit whose receipt does not count leaves the branch, and the next turn begins with its files.

So the branch has one commit for each receipt that counts. If a person has committed on top of it, or has changed the
same files, the commit stays where it is; the next turn builds on it.
"""

from __future__ import annotations

from contextlib import suppress

from aotloop.clock import now
from aotloop.core.phases.model import PhaseLoop, Receipt
from aotloop.errors import AotError
from aotloop.execution import run_events
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.outcome import Blocked, Landed
from aotloop.execution.journals.records import Kept
from aotloop.phases.driver.phase_run import DriverContext, epoch_of, run_id_of
from aotloop.phases.project import Project


class RefusedWork:
    """Its functions block."""

    def __init__(self, context: DriverContext) -> None:
        self._branch = context.branch
        self._journal = context.journal
        self._run_id = context.terms.run_id
        self._tell = context.tell

    def withdraw(self, phase: str, commit: str) -> None:
        problem: str | None = "something was committed on top of it"
        try:
            done = self._branch.withdraw(commit, self._run_id)
        except AotError as error:
            problem = error.message
        else:
            if isinstance(done, Landed):
                problem = None
            elif isinstance(done, Blocked):
                problem = done.reason
        self._tell(run_events.TakenBack(at=now(), atoms=(phase,), problem=problem))

    def start(self, loop: PhaseLoop) -> Kept | None:
        """The files with which the next turn in this phase begins; None: those of the branch."""
        work = self._journal.last_work(loop.phase, self._run_id, epoch_of(loop))
        if work is None or self._branch.landed_before(work, self._run_id) is not None:
            return None
        return Kept(commit=work.commit, attempt=work.attempt)


def withdraw_receipt(project: Project, loop: PhaseLoop, receipt: Receipt) -> None:
    """A person refused the tests. A commit by the person or a session stays; so does one with commits on top."""
    with suppress(AotError):
        Branch(project.repository).withdraw(receipt.git_sha, run_id_of(loop, project.store.path))
