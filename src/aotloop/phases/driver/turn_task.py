"""One turn of a phase as a task: its prompt, the results it builds on, and its budget."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from aotloop.agents.prompts.attempt_prompt import CAPS, Start, prompt_of, quoted, whole_work
from aotloop.agents.prompts.short_prompt import Style
from aotloop.core.context import MOST_FAILURES
from aotloop.core.model import Binding
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.core.phases.phase_progress import money_left
from aotloop.core.phases.receipts import COMMIT, NEWER, RECEIPTS, receipt_of
from aotloop.execution.journals.records import Kept
from aotloop.execution.task import Task
from aotloop.phases.driver.phase_run import Terms, epoch_of
from aotloop.phases.driver.turn_rules import failures_of, inspection_of, protected_in
from aotloop.phases.guidance import Instructions, instructions_for

_OTHERS = "Other phases are done by others, before and after. Do this one only."
_COMMITTED = (COMMIT, NEWER)
"""Proofs that need no work of the agent: the driver commits the agent's files."""

_GO_ON = (
    "# Where you start\nThe folder holds what an earlier turn of this phase left. Its receipt did not count. Look at"
    " that work first; keep what is good, and mend the rest."
)
_PROMISE_PLACE = "put into the summary of your answer"


TITLES: dict[Phase, str] = {
    "brainstorm": "Collect ideas",
    "plan": "Plan",
    "spec_test": "Add acceptance tests",
    "deepen": "Refine the plan",
    "work": "Implement",
    "review": "Review",
    "fix": "Fix findings of the review",
    "re_review": "Review the fixes",
    "compound": "Write down what was learnt",
    "test": "Test",
    "ship": "Prepare the release",
}
"""How the title of a commit begins; the feature follows."""


def turn_of(loop: PhaseLoop, terms: Terms, number: int, start: Kept | None = None) -> Task:
    """`start`: work of an earlier turn that its folder begins with; None: it begins with the branch."""
    phase_instructions = instructions_for(loop, terms.settings, _PROMISE_PLACE)
    return Task(
        name=loop.phase,
        number=number,
        run_id=terms.run_id,
        epoch=epoch_of(loop),
        description=phase_instructions.text,
        commit_title=f"{TITLES[loop.phase]}: {loop.feature}",
        prompt=partial(_prompt, loop, phase_instructions),
        results=_results(loop),
        inspect=inspection_of(loop, terms),
        allowance=_allowance(loop, terms.most_for_one),
        start=start,
    )


def _prompt(loop: PhaseLoop, phase_instructions: Instructions, instructions: str | None, start: Start, _: Style) -> str:
    """A turn that starts from the branch needs no word about it. A phase is too large for a short prompt."""
    row = RECEIPTS[loop.phase]
    where = f", in {phase_instructions.artifact}" if phase_instructions.artifact else ""
    work = whole_work(
        goal=loop.feature,
        why=(
            f"A feature is taken from an idea to being shipped, phase by phase: {', '.join(PHASES)}."
            f" This is the phase {loop.phase}. {_OTHERS}"
        ),
        deliverables=f"{row.artifact}{where}. Name its path first among the artifacts of your answer.",
        done_when="\n".join(f"- {proof.says}" for proof in row.proofs if proof not in _COMMITTED),
    )
    return prompt_of(
        "worker",
        loop.phase,
        [*work, f"# Your atom\n{quoted(phase_instructions.text, CAPS['description'])}"],
        results=_results(loop),
        failures=failures_of(loop)[-MOST_FAILURES:],
        start=[_GO_ON] if start.folder == "kept" else [],
        protect=protected_in(loop),
        instructions=instructions,
    )


def _results(loop: PhaseLoop) -> dict[str, Binding]:
    """The last checkpoint of each other phase."""
    return {phase: binding for phase, binding in _last_checkpoints(loop) if phase != loop.phase}


def _last_checkpoints(loop: PhaseLoop) -> Iterator[tuple[str, Binding]]:
    last = {checkpoint.phase: checkpoint for checkpoint in loop.checkpoints}
    for phase in PHASES:
        if (checkpoint := last.get(phase)) is None:
            continue
        receipt = receipt_of(loop, phase)
        failed = "".join(f"\nDid not work: {approach}" for approach in checkpoint.failed_approaches)
        artifacts = (receipt.artifact,) if receipt is not None else ()
        yield phase, Binding(summary=checkpoint.summary + failed, artifacts=artifacts)


def _allowance(loop: PhaseLoop, most: float | None) -> float | None:
    amounts = [amount for amount in (money_left(loop), most) if amount is not None]
    return min(amounts) if amounts else None
