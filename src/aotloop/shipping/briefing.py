"""What an agent is told that does one turn of a phase: its words, in the form of one attempt at an atom."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.core.context import MOST_FAILURES, Context
from aotloop.core.effects import StartAttempt
from aotloop.core.model import Atom, BaseCase, Binding, Objective
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.core.phases.receipts import COMMIT, NEWER, RECEIPTS
from aotloop.core.phases.settings import ShipSettings
from aotloop.core.phases.spending import money_left
from aotloop.core.phases.working import receipt_of
from aotloop.phases.protecting import protected
from aotloop.phases.telling import task_of
from aotloop.runner.made import Job
from aotloop.shipping.identity import epoch_of

ONLY_LOOK: frozenset[Phase] = frozenset({"review", "re_review"})
"""Phases that change nothing but the document they write."""

_OTHERS = "Other phases are done by others, before and after. Do this one only."
_COMMITTED = (COMMIT, NEWER)
"""What is seen to by whoever commits what an agent leaves, which is not the agent."""

_PROMISED = "Here the promise belongs into the summary of your answer."


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for all turns of a run."""

    settings: ShipSettings
    run_id: str
    most_for_one: float | None = None
    """USD."""


def job_of(loop: PhaseLoop, terms: Terms, attempt: int) -> Job:
    return Job(
        start=StartAttempt(attempt=attempt, atom=loop.phase, epoch=epoch_of(loop), role="worker"),
        context=context_of(loop, terms.settings),
        run_id=terms.run_id,
        allowance=_allowance(loop, terms.most_for_one),
    )


def context_of(loop: PhaseLoop, settings: ShipSettings) -> Context:
    told = task_of(loop, settings)
    words = f"{told.text}\n{_PROMISED}" if loop.phase == "ship" else told.text
    return Context(
        objective=_objective(loop, told.artifact),
        atom=Atom(id=loop.phase, description=words, status="in_progress", depends_on=()),
        results={phase: binding for phase, binding in _results(loop) if phase != loop.phase},
        failures=failures_of(loop)[-MOST_FAILURES:],
        may_split=False,
    )


def closed_in(loop: PhaseLoop) -> tuple[str, ...]:
    """Globs of what this turn may not change. While the acceptance tests are written, nobody has agreed to any."""
    return () if loop.phase == "spec_test" else protected(loop)


def failures_of(loop: PhaseLoop) -> tuple[str, ...]:
    """Of this stay in the phase, the latest last: what was refused, and what did not succeed."""
    since = loop.phase_started_at or loop.started_at
    errors = (one for one in loop.errors if one.phase == loop.phase and not one.forced and one.timestamp >= since)
    return tuple(dict.fromkeys(one.message for one in errors))


def _objective(loop: PhaseLoop, artifact: str) -> Objective:
    row = RECEIPTS[loop.phase]
    where = f", in {artifact}" if artifact else ""
    return Objective(
        goal=loop.feature,
        base_case=BaseCase(),
        background_intent=(
            f"A feature is taken from an idea to being shipped, phase by phase: {', '.join(PHASES)}."
            f" This is the phase {loop.phase}. {_OTHERS}"
        ),
        deliverables=f"{row.artifact}{where}. Name its path first among the artifacts of your answer.",
        definition_of_done="\n".join(f"- {proof.says}" for proof in row.proofs if proof not in _COMMITTED),
        protect=closed_in(loop),
    )


def _results(loop: PhaseLoop) -> Iterator[tuple[str, Binding]]:
    """Of each phase, what its last checkpoint says."""
    last = {checkpoint.phase: checkpoint for checkpoint in loop.checkpoints}
    for phase in PHASES:
        if (checkpoint := last.get(phase)) is None:
            continue
        receipt = receipt_of(loop, phase)
        failed = "".join(f"\nDid not work: {one}" for one in checkpoint.failed_approaches)
        yield (
            phase,
            Binding(summary=checkpoint.summary + failed, artifacts=(receipt.artifact,) if receipt is not None else ()),
        )


def _allowance(loop: PhaseLoop, most: float | None) -> float | None:
    left = money_left(loop)
    amounts = [one for one in (left, most) if one is not None]
    return min(amounts) if amounts else None
