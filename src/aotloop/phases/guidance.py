"""Guidance for an agent in a phase loop: what to do now, where the loop is, and why a claim did not count.

A session and an agent of a single turn get the same text. Texts of others are shortened, and put on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from aotloop.core.phases.effects import AskForPromise, AskPerson, Enter, Finish, GoOn, PhaseEffect, Stop, Warn
from aotloop.core.phases.model import PHASES, Checkpoint, Phase, PhaseLoop, ShipSettings
from aotloop.core.phases.receipts import receipt_of
from aotloop.phases.failure_log import USUAL
from aotloop.phases.playbook import PLAYBOOK
from aotloop.text.shorten import short_line

MOST_APPROACHES = 8
MOST_ERRORS = 3
_LONGEST_SLUG = 40
_USUALLY = "the usual command for their kind (for a .py file `python3 -m pytest`, where pytest is installed)"


class Instructions(msgspec.Struct, frozen=True, kw_only=True):
    phase: Phase
    title: str
    text: str
    artifact: str
    """The usual place of its artifact, from the project's root; empty: in the project itself."""
    only_writes: bool
    """It writes only its artifact."""


def instructions_for(
    loop: PhaseLoop, settings: ShipSettings | None = None, promise_place: str = "end with"
) -> Instructions:
    """`promise_place`: where the promise belongs; no other text says it."""
    ways, settings = PLAYBOOK[loop.phase], settings or ShipSettings()
    words = {**_words(loop, settings), "promise_place": promise_place}
    text = ways.does.format(**words)
    if own := settings.commands.get(loop.phase):
        text = (
            f"The person has something of their own for this: {own}. Use it; this says what has to come of it.\n{text}"
        )
    return Instructions(
        phase=loop.phase,
        title=ways.title,
        text=text.strip(),
        artifact=ways.artifact.format(**words),
        only_writes=ways.only_writes,
    )


def _words(loop: PhaseLoop, settings: ShipSettings) -> dict[str, str]:
    slug = re.sub(r"[^a-z0-9]+", "-", loop.feature.lower())[:_LONGEST_SLUG].strip("-") or "feature"
    stem = f"{loop.started_at[:10]}-{slug}"
    brainstorm, review = loop.artifacts.brainstorm_file, receipt_of(loop, "review")
    return {
        "stem": stem,
        "test_stem": stem.replace("-", "_"),
        "from_brainstorm": f", from what the brainstorm settled ({brainstorm})" if brainstorm else "",
        "plan": loop.artifacts.plan_file or "docs/plans",
        "tests": loop.artifacts.acceptance_tests_file or "tests/acceptance",
        "review": review.artifact if review is not None else f"docs/reviews/{stem}.md",
        "progress": loop.artifacts.progress_file or USUAL,
        "promise": loop.completion_promise,
        "run_with": f"The acceptance tests are run with: {settings.test_command or _USUALLY} FILE",
    }


# --- where the loop is -------------------------------------------------------------------------------------------


def anchor(loop: PhaseLoop) -> str:
    """For an agent that has lost its memory. Its length is bounded, even if the loop has run for long."""
    left = loop.max_iterations - loop.global_iteration
    lines = [
        "A feature is on its way from idea to shipped (.claude/autonomous-loop.json; only commands change it).",
        f"Feature: {short_line(loop.feature, 600)}",
        f"Phase: {loop.phase} ({PHASES.index(loop.phase) + 1} of {len(PHASES)}), {loop.status}"
        + (f": {short_line(loop.stop_reason, 200)}" if loop.stop_reason else ""),
        f"Turns: {loop.phase_iteration} of {loop.max_phase_iterations} in this phase, {left} left in all.",
    ]
    lines += [f"{name}: {short_line(value, 200)}" for name, value in _artifacts(loop)]
    lines += [f"- {point.phase}: {short_line(point.summary, 300)}" for point in last_checkpoints(loop)]
    if approaches := failed_approaches(loop):
        lines += ["Tried, and did not work:", *(f"- {short_line(approach, 200)}" for approach in approaches)]
    if refused := refusals(loop):
        lines += ["Did not count:", *(f"- {short_line(refusal, 300)}" for refusal in refused)]
    return "\n".join(lines)


def _artifacts(loop: PhaseLoop) -> Iterable[tuple[str, str]]:
    named = loop.artifacts
    yield from (
        (name, value)
        for name, value in (
            ("Brainstorm", named.brainstorm_file),
            ("Plan", named.plan_file),
            ("Acceptance tests, not to be changed", named.acceptance_tests_file),
            ("What failed before", named.progress_file),
            ("Branch", named.branch),
        )
        if value is not None
    )


def last_checkpoints(loop: PhaseLoop) -> Sequence[Checkpoint]:
    """The last of each phase, in their order."""
    last = {point.phase: point for point in loop.checkpoints}
    return [last[phase] for phase in PHASES if phase in last]


def failed_approaches(loop: PhaseLoop) -> tuple[str, ...]:
    """Failed approaches of all phases; the latest last."""
    every = [approach for point in loop.checkpoints for approach in point.failed_approaches]
    return tuple(dict.fromkeys(every))[-MOST_APPROACHES:]


def refusals(loop: PhaseLoop) -> tuple[str, ...]:
    """Refused claims and errors of this phase; the latest last."""
    since = loop.phase_started_at or ""
    return tuple(
        error.message
        for error in loop.errors
        if error.phase == loop.phase and not error.forced and error.timestamp >= since
    )[-MOST_ERRORS:]


# --- the result of a claim -------------------------------------------------------------------------------------


def said_after(effects: Iterable[PhaseEffect], loop: PhaseLoop, settings: ShipSettings | None = None) -> str:
    """What to do now, according to the loop's answer."""
    return "\n".join(_said(effect, loop, settings) for effect in effects)


def _said(effect: PhaseEffect, loop: PhaseLoop, settings: ShipSettings | None) -> str:  # noqa: PLR0911 - a table
    match effect:
        case Enter(forced=forced):
            before = f"The phase before was left by force: {forced}. " if forced else ""
            return f"{before}{now_to_do(loop, settings)}"
        case GoOn(reasons=()):
            return f"The phase {loop.phase} is not done: no receipt of it counts yet. {now_to_do(loop, settings)}"
        case GoOn(reasons=reasons):
            return f"It does not count: {'; '.join(reasons)}. The loop is in {loop.phase}."
        case AskPerson(artifact=artifact):
            return f"A person has to read the acceptance tests ({artifact}) and approve them. Until then, do nothing."
        case AskForPromise(promise=promise):
            return f"Everything is proven. If the feature is shipped, end with <promise>{promise}</promise>."
        case Stop(reason=reason):
            return f"The loop has stopped. {reason}"
        case Finish():
            return "The feature is shipped: every receipt holds and the acceptance tests pass."
        case Warn(text=text):
            return text
        case _:
            return ""


def now_to_do(loop: PhaseLoop, settings: ShipSettings | None = None) -> str:
    task = instructions_for(loop, settings)
    where = f"\nIt usually goes to {task.artifact}." if task.artifact else ""
    return f"Now: {task.title.lower()} ({loop.phase}).\n{task.text}{where}"
