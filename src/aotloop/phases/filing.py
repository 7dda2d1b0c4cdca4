"""What is claimed about a phase is looked into, and the loop is told; both together, or nothing has happened.

Looking takes its time and needs no lock. So the loop is told under the lock only if it is still where it was when the
looking began.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from aotloop.core.phases import events
from aotloop.core.phases.effects import AskForPromise, AskPerson, Enter, Finish, GoOn, PhaseEffect
from aotloop.core.phases.facts import Facts
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import Checkpoint, Phase, PhaseLoop, Receipt
from aotloop.core.phases.working import receipt_of
from aotloop.errors import AotError, IllegalEvent
from aotloop.phases.acceptance import Permit, allow, kept_run, run_acceptance
from aotloop.phases.comparing import are_tests_untouched
from aotloop.phases.ground import Ground
from aotloop.phases.looking import look, look_again, needs_tests
from aotloop.phases.testing import TestRun
from aotloop.verify.cancellation import Cancellation

LONGEST_SUMMARY = 4000
LONGEST_APPROACH = 1000
MOST_APPROACHES = 20


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """The loop after it, and what it asks for."""

    loop: PhaseLoop
    effects: tuple[PhaseEffect, ...] = ()
    run: TestRun | None = None
    """Of the acceptance tests, if they were run."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why what was claimed does not count; nothing: it does."""
        return next((one.reasons for one in self.effects if isinstance(one, GoOn)), ())

    @property
    def is_accepted(self) -> bool:
        return any(isinstance(one, Enter | AskPerson | AskForPromise | Finish) for one in self.effects)


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def tell(ground: Ground, *told: events.PhaseEvent, run: TestRun | None = None) -> Filed:
    """These events, in their order, in one write."""
    return _told(ground, lambda _: told, run)


# --- claims of an agent ------------------------------------------------------------------------------------------


def file_receipt(
    ground: Ground,
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
    """`sha` None: what is checked out. A checkpoint is kept with a receipt that counts."""
    loop = ground.store.load()
    refuse_others(loop, session)
    receipt = Receipt(phase=loop.phase, artifact=artifact, git_sha=_whole(ground, sha), timestamp=now())
    loop = _named(ground, loop, branch, pr_url)
    _refuse_unless_running(loop)
    run = None
    if needs_tests(loop.phase):
        file = artifact if loop.phase == "spec_test" else loop.artifacts.acceptance_tests_file
        run = run_acceptance(ground, loop.phase, file, permit, cancellation)
    claim = events.ReceiptFiled(at=now(), receipt=receipt, facts=look(ground, loop, receipt, run))
    checkpoint = _checkpoint(loop, summary or f"{artifact} at {receipt.git_sha[:12]}", failed)

    def told(current: PhaseLoop) -> Sequence[events.PhaseEvent]:
        _refuse_if_moved(loop, current)
        has_counted = not any(isinstance(one, GoOn) for one in advance(current, claim)[1])
        kept = [checkpoint] if has_counted and not _is_kept(current, checkpoint.checkpoint) else []
        return [*_ran(ground, run), *kept, claim]

    return _told(ground, told, run)


def make_promise(
    ground: Ground,
    text: str,
    session: str | None = None,
    *,
    runs_tests: bool = True,
    permit: Permit = allow,
    cancellation: Cancellation | None = None,
) -> Filed:
    """`runs_tests` False: what they said when they were run last counts, if that was at this very commit."""
    loop = ground.store.load()
    run: TestRun | None = None
    facts: Mapping[Phase, Facts] = {}
    if loop.phase == "ship" and loop.status == "running":
        file = loop.artifacts.acceptance_tests_file
        run = run_acceptance(ground, "ship", file, permit, cancellation) if runs_tests else kept_run(ground, loop)
        facts = look_again(ground, loop, run)
    claim = events.PromiseMade(at=now(), session_id=session, text=text, facts=facts)

    def told(current: PhaseLoop) -> Sequence[events.PhaseEvent]:
        _refuse_if_moved(loop, current)
        return [*(_ran(ground, run) if runs_tests else ()), claim]

    return _told(ground, told, run)


def end_turn(ground: Ground, session: str | None = None) -> Filed:
    """The agent's turn is over, and the phase is not."""
    loop = ground.store.load()
    run = kept_run(ground, loop) if loop.phase == "test" else None
    ended = events.IterationEnded(at=now(), session_id=session, tests_pass=_agreed(ground, loop, run))
    return _told(ground, lambda current: _if_still(loop, current, ended))


def write_checkpoint(ground: Ground, summary: str, failed: Sequence[str] = (), session: str | None = None) -> Filed:
    loop = ground.store.load()
    refuse_others(loop, session)
    return tell(ground, _checkpoint(loop, summary, failed))


# --- a person's word ---------------------------------------------------------------------------------------------


def approve(ground: Ground, *, permit: Permit = allow) -> Filed:
    """The acceptance tests are right; they are looked at once more, in case they are others by now."""
    loop = ground.store.load()
    receipt = receipt_of(loop, "spec_test")
    run, facts = None, Facts()
    if loop.status == "waiting" and receipt is not None:
        run = run_acceptance(ground, "spec_test", receipt.artifact, permit)
        facts = look(ground, loop, receipt, run)
    given = events.ApprovalGiven(at=now(), facts=facts)
    return _told(ground, lambda current: _if_still(loop, current, *_ran(ground, run), given), run)


def refuse(ground: Ground, reason: str) -> Filed:
    return tell(ground, events.ApprovalRefused(at=now(), reason=reason))


def force(ground: Ground, reason: str, *, permit: Permit = allow) -> Filed:
    """Leaves the phase as it is, on record."""
    loop = ground.store.load()
    run = None
    if loop.phase == "test":
        run = run_acceptance(ground, "test", loop.artifacts.acceptance_tests_file, permit)
    forced = events.PhaseForced(at=now(), reason=f"a person: {reason}", tests_pass=_agreed(ground, loop, run))
    return _told(ground, lambda current: _if_still(loop, current, *_ran(ground, run), forced), run)


# --- how it is told ----------------------------------------------------------------------------------------------


def _told(
    ground: Ground, events_for: Callable[[PhaseLoop], Sequence[events.PhaseEvent]], run: TestRun | None = None
) -> Filed:
    def change(loop: PhaseLoop) -> tuple[PhaseLoop, Filed]:
        effects: tuple[PhaseEffect, ...] = ()
        for event in events_for(loop):
            loop, more = advance(loop, event)
            effects += more
        return loop, Filed(loop=loop, effects=effects, run=run)

    return ground.store.update(change)


def _if_still(before: PhaseLoop, current: PhaseLoop, *told: events.PhaseEvent) -> Sequence[events.PhaseEvent]:
    _refuse_if_moved(before, current)
    return told


def _refuse_if_moved(before: PhaseLoop, current: PhaseLoop) -> None:
    if (before.phase, before.status, before.receipts) != (current.phase, current.status, current.receipts):
        raise AotError(
            "somebody else moved the loop on while this was looked into, so it was not counted",
            hint=f"It is in {current.phase} now ({current.status}); look at it again.",
        )


def refuse_others(loop: PhaseLoop, session: str | None) -> None:
    """A person in a terminal belongs to no session, and may."""
    if session is not None and loop.session_id not in (None, session) and loop.status == "running":
        raise AotError(f"another session ({loop.session_id}) drives this loop")


def _refuse_unless_running(loop: PhaseLoop) -> None:
    if loop.status != "running":
        raise IllegalEvent(
            f"the loop is {loop.status}, so nothing is taken as done",
            why=f"the loop is {loop.status}",
        )


def _named(ground: Ground, loop: PhaseLoop, branch: str | None, pr_url: str | None) -> PhaseLoop:
    """What is shipped is on a branch: the one that is checked out, if nobody says otherwise."""
    if loop.phase == "ship" and branch is None and loop.artifacts.branch is None:
        ref = ground.repository.head().branch
        branch = ref.removeprefix("refs/heads/") if ref is not None else None
    if branch is None and pr_url is None:
        return loop
    return tell(ground, events.ArtifactsNamed(at=now(), branch=branch, pr_url=pr_url)).loop


def _whole(ground: Ground, sha: str | None) -> str:
    """A short name may come to mean something else; what is none is refused as it was given."""
    if not sha:
        return ground.head()
    return (ground.commit(sha) if sha.isalnum() else None) or sha


def _agreed(ground: Ground, loop: PhaseLoop, run: TestRun | None) -> bool | None:
    """Whether they pass: the tests that were agreed on; what others say counts for nothing."""
    return run.passed if run is not None and are_tests_untouched(ground, loop) else None


def _ran(ground: Ground, run: TestRun | None) -> Sequence[events.PhaseEvent]:
    if run is None or run.passed is None:
        return ()
    return (events.AcceptanceRun(at=now(), passed=run.passed, commit=ground.head()),)


def _checkpoint(loop: PhaseLoop, summary: str, failed: Sequence[str]) -> events.CheckpointWritten:
    checkpoint = Checkpoint(
        phase=loop.phase,
        summary=summary.strip()[:LONGEST_SUMMARY],
        failed_approaches=tuple(one.strip()[:LONGEST_APPROACH] for one in failed if one.strip())[-MOST_APPROACHES:],
        timestamp=now(),
    )
    return events.CheckpointWritten(at=now(), checkpoint=checkpoint)


def _is_kept(loop: PhaseLoop, wanted: Checkpoint) -> bool:
    """By a receipt that is filed a second time."""
    last = loop.checkpoints[-1] if loop.checkpoints else None
    return last is not None and msgspec.structs.replace(last, timestamp=wanted.timestamp) == wanted
