"""Receipts: claims about a phase are checked against evidence and told to the loop: both together, or neither.

The check takes time and holds no lock. So the loop is told, under the lock, only if it has not moved since the check
began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from aotloop.clock import now
from aotloop.core.phases import events
from aotloop.core.phases.effects import AskForPromise, AskPerson, Enter, Finish, GoOn, PhaseEffect
from aotloop.core.phases.events import Facts
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import Checkpoint, Phase, PhaseLoop, Receipt
from aotloop.core.phases.receipts import receipt_of
from aotloop.errors import AotError, IllegalEvent
from aotloop.phases.evidence.acceptance import Permit, allow, kept_run, run_acceptance
from aotloop.phases.evidence.facts import look, look_again, needs_tests
from aotloop.phases.evidence.integrity import are_tests_untouched
from aotloop.phases.evidence.test_command import TestRun
from aotloop.phases.project import Project
from aotloop.process.cancellation import Cancellation
from aotloop.trust.verdicts import keep_tested

LONGEST_SUMMARY = 4000
LONGEST_APPROACH = 1000
MOST_APPROACHES = 20


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """The loop afterwards, and its demands."""

    loop: PhaseLoop
    effects: tuple[PhaseEffect, ...] = ()
    run: TestRun | None = None
    """The run of the acceptance tests, if they ran."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the claim does not count; empty: it does."""
        return next((effect.reasons for effect in self.effects if isinstance(effect, GoOn)), ())

    @property
    def is_accepted(self) -> bool:
        return any(isinstance(effect, Enter | AskPerson | AskForPromise | Finish) for effect in self.effects)


def tell(project: Project, *happened: events.PhaseEvent, run: TestRun | None = None) -> Filed:
    """Tells the loop these events, in their order, in one write."""
    return _told(project, lambda _: happened, run)


# --- claims of an agent ------------------------------------------------------------------------------------------


def file_receipt(
    project: Project,
    *,
    artifact: str,
    sha: str | None = None,
    session: str | None = None,
    summary: str = "",
    failed: Sequence[str] = (),
    branch: str | None = None,
    pr_url: str | None = None,
    permit: Permit = allow,
    cancellation: Cancellation | None = None,
) -> Filed:
    """`sha` None: the commit that is checked out. A checkpoint is kept with a receipt that counts."""
    loop = project.store.load()
    refuse_others(loop, session)
    receipt = Receipt(phase=loop.phase, artifact=artifact, git_sha=_whole(project, sha), timestamp=now())
    loop = _named(project, loop, branch, pr_url)
    _refuse_unless_running(loop)
    run = None
    if needs_tests(loop.phase):
        file = artifact if loop.phase == "spec_test" else loop.artifacts.acceptance_tests_file
        run = run_acceptance(project, loop.phase, file, permit, cancellation)
    claim = events.ReceiptFiled(at=now(), receipt=receipt, facts=look(project, loop, receipt, run))
    checkpoint = _checkpoint(loop, summary or f"{artifact} at {receipt.git_sha[:12]}", failed)

    def told(current: PhaseLoop) -> Sequence[events.PhaseEvent]:
        refuse_if_moved(loop, current)
        has_counted = not any(isinstance(effect, GoOn) for effect in advance(current, claim)[1])
        kept = [checkpoint] if has_counted and not _is_kept(current, checkpoint.checkpoint) else []
        return [*_ran(project, run), *kept, claim]

    return _told(project, told, run)


def make_promise(
    project: Project,
    text: str,
    session: str | None = None,
    *,
    permit: Permit = allow,
    cancellation: Cancellation | None = None,
) -> Filed:
    loop = project.store.load()
    run: TestRun | None = None
    facts: Mapping[Phase, Facts] = {}
    if loop.phase == "ship" and loop.status == "running":
        run = run_acceptance(project, "ship", loop.artifacts.acceptance_tests_file, permit, cancellation)
        facts = look_again(project, loop, run)
    claim = events.PromiseMade(at=now(), session_id=session, text=text, facts=facts)

    return _told(project, lambda current: _if_still(loop, current, *_ran(project, run), claim), run)


def facts_as_tested_before(project: Project, loop: PhaseLoop) -> Mapping[Phase, Facts]:
    """For a promise. No test runs: the last verdict counts, if it was at this exact commit."""
    return look_again(project, loop, kept_run(project, loop))


def verdict_as_tested_before(project: Project, loop: PhaseLoop) -> bool | None:
    """Whether the agreed tests passed at this exact commit; None: unknown."""
    return _agreed(project, loop, kept_run(project, loop))


def end_turn(project: Project, session: str | None = None) -> Filed:
    """The agent's turn is over, and the phase is not."""
    loop = project.store.load()
    passed = verdict_as_tested_before(project, loop) if loop.phase == "test" else None
    ended = events.IterationEnded(at=now(), session_id=session, tests_pass=passed)
    return _told(project, lambda current: _if_still(loop, current, ended))


def write_checkpoint(project: Project, summary: str, failed: Sequence[str] = (), session: str | None = None) -> Filed:
    loop = project.store.load()
    refuse_others(loop, session)
    return tell(project, _checkpoint(loop, summary, failed))


# --- a person's decision ---------------------------------------------------------------------------------------


def approve(project: Project, *, permit: Permit = allow) -> Filed:
    """The person approves the acceptance tests; they are read once more, in case they have changed."""
    loop = project.store.load()
    receipt = receipt_of(loop, "spec_test")
    run, facts = None, Facts()
    if loop.status == "waiting" and receipt is not None:
        run = run_acceptance(project, "spec_test", receipt.artifact, permit)
        facts = look(project, loop, receipt, run)
    given = events.ApprovalGiven(at=now(), facts=facts)
    return _told(project, lambda current: _if_still(loop, current, *_ran(project, run), given), run)


def refuse(project: Project, reason: str) -> Filed:
    return tell(project, events.ApprovalRefused(at=now(), reason=reason))


def force(project: Project, reason: str, *, permit: Permit = allow) -> Filed:
    """Leaves the phase as it is, and records that."""
    loop = project.store.load()
    run = None
    if loop.phase == "test":
        run = run_acceptance(project, "test", loop.artifacts.acceptance_tests_file, permit)
    forced = events.PhaseForced(at=now(), reason=f"a person: {reason}", tests_pass=_agreed(project, loop, run))
    stopped = loop.status == "stopped"  # for example at a limit of the phase: the person's decision lets it continue
    again = (events.LoopResumed(at=now()),) if stopped else ()
    return _told(project, lambda current: _if_still(loop, current, *again, *_ran(project, run), forced), run)


# --- telling the loop ------------------------------------------------------------------------------------------


def _told(
    project: Project, events_for: Callable[[PhaseLoop], Sequence[events.PhaseEvent]], run: TestRun | None = None
) -> Filed:
    def change(loop: PhaseLoop) -> tuple[PhaseLoop, Filed]:
        effects: tuple[PhaseEffect, ...] = ()
        for event in events_for(loop):
            loop, more = advance(loop, event)
            effects += more
        return loop, Filed(loop=loop, effects=effects, run=run)

    return project.store.update(change)


def _if_still(before: PhaseLoop, current: PhaseLoop, *happened: events.PhaseEvent) -> Sequence[events.PhaseEvent]:
    refuse_if_moved(before, current)
    return happened


def refuse_if_moved(before: PhaseLoop, current: PhaseLoop) -> None:
    if (before.phase, before.status, before.receipts) != (current.phase, current.status, current.receipts):
        raise AotError(
            "the loop moved on while this claim was checked, so the claim was not counted",
            hint=f"It is in {current.phase} now ({current.status}); look at it again.",
        )


def refuse_others(loop: PhaseLoop, session: str | None) -> None:
    """A person in a terminal belongs to no session, and is allowed."""
    if session is not None and loop.session_id not in (None, session) and loop.status == "running":
        raise AotError(f"another session ({loop.session_id}) drives this loop")


def _refuse_unless_running(loop: PhaseLoop) -> None:
    if loop.status != "running":
        raise IllegalEvent(
            f"the loop is {loop.status}, so nothing is taken as done",
            why=f"the loop is {loop.status}",
        )


def _named(project: Project, loop: PhaseLoop, branch: str | None, pr_url: str | None) -> PhaseLoop:
    """Shipped work is on a branch: the one that is checked out, unless another one is named."""
    if loop.phase == "ship" and branch is None and loop.artifacts.branch is None:
        ref = project.repository.head().branch
        branch = ref.removeprefix("refs/heads/") if ref is not None else None
    if branch is None and pr_url is None:
        return loop
    return tell(project, events.ArtifactsNamed(at=now(), branch=branch, pr_url=pr_url)).loop


def _whole(project: Project, sha: str | None) -> str:
    """A short name may get another meaning; a text that is no commit is refused as given."""
    if not sha:
        return project.head()
    return (project.commit(sha) if sha.isalnum() else None) or sha


def _agreed(project: Project, loop: PhaseLoop, run: TestRun | None) -> bool | None:
    """Whether the agreed tests pass; other tests do not count."""
    return run.passed if run is not None and are_tests_untouched(project, loop) else None


def _ran(project: Project, run: TestRun | None) -> Sequence[events.PhaseEvent]:
    if run is None or run.passed is None:
        return ()
    at, commit = now(), project.head()
    if run.passed:
        keep_tested(project.store.path, commit, at)
    return (events.AcceptanceRun(at=at, passed=run.passed, commit=commit),)


def _checkpoint(loop: PhaseLoop, summary: str, failed: Sequence[str]) -> events.CheckpointWritten:
    approaches = tuple(approach.strip()[:LONGEST_APPROACH] for approach in failed if approach.strip())
    checkpoint = Checkpoint(
        phase=loop.phase,
        summary=summary.strip()[:LONGEST_SUMMARY],
        failed_approaches=approaches[-MOST_APPROACHES:],
        timestamp=now(),
    )
    return events.CheckpointWritten(at=now(), checkpoint=checkpoint)


def _is_kept(loop: PhaseLoop, wanted: Checkpoint) -> bool:
    """Whether the loop has this checkpoint already: its receipt was filed before."""
    last = loop.checkpoints[-1] if loop.checkpoints else None
    return last is not None and msgspec.structs.replace(last, timestamp=wanted.timestamp) == wanted
