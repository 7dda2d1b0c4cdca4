"""`aot ship status`: where the feature stands, phase by phase, and what is next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import msgspec

from aotloop.cli.foreign import prose
from aotloop.cli.options import json_option
from aotloop.cli.output import faint, heading, mark, say_json, say_next, tell
from aotloop.core.phases.completing import ROUNDS, forced_phases
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.core.phases.spending import is_spent
from aotloop.core.phases.working import receipt_of
from aotloop.imports.words import short
from aotloop.phases.ground import Ground, ground_at
from aotloop.phases.telling import refusals
from aotloop.statefile.lease import holder_of

if TYPE_CHECKING:
    from aotloop.phases.documents import Findings

_COLOURS = {"running": "yellow", "waiting": "cyan", "stopped": "magenta", "completed": "green", "cancelled": "red"}
_MARKS = {"done": ("✔", "green"), "forced": ("!", "yellow"), "now": ("▶", "cyan"), "skipped": ("-", ""), "": (" ", "")}
_PAST = ("done", "forced", "skipped")
_LARGEST = 1_000_000
_LONGEST = 600


@click.command(
    "status",
    short_help="Show where the feature stands, and what is next.",
    epilog="""\b
Examples:
  aot ship status
  aot ship status --json | jq .phase
""",
)
@json_option
def status(as_json: bool) -> None:
    """Show where the feature stands: phases, receipts, limits, money, findings, and what is next."""
    ground = ground_at()
    loop = ground.store.load()
    found, steps = _findings(ground, loop), next_steps(loop, is_run=holder_of(ground.store.path) is not None)
    if as_json:
        say_json(_facts(loop, found, steps))
        return
    tell(prose(short(loop.feature, _LONGEST)), style=heading)
    _tell_progress(loop)
    for phase in PHASES:
        _tell_phase(loop, phase)
    _tell_rest(loop, found)
    say_next(*steps)


def next_steps(loop: PhaseLoop, *, is_run: bool = False) -> list[str]:
    if loop.status in ("completed", "cancelled"):
        return ['aot ship "the next feature"', "git log"]
    if is_run:
        return ["aot ship stop", "aot log -f"]
    if loop.status == "waiting":
        return ["aot ship approve", 'aot ship approve --refuse "why"']
    if loop.status == "stopped" and (is_spent(loop) or loop.global_iteration >= loop.max_iterations):
        limit = "--budget-usd" if is_spent(loop) else "--max-iterations"
        return [f"aot ship {limit} MORE", "aot ship status"]
    return ["aot ship", "aot ship cancel"]


def state_of(loop: PhaseLoop, phase: Phase) -> str:
    if loop.status == "completed" and phase not in forced_phases(loop):
        return "done" if receipt_of(loop, phase) is not None else "skipped"
    if phase == loop.phase:
        return "now"
    if phase in forced_phases(loop):
        return "forced"
    if phase in loop.phases_completed:
        return "done"
    is_past = PHASES.index(phase) < PHASES.index(loop.phase)
    return "skipped" if is_past and (phase in ROUNDS or phase == "brainstorm") else ""


def _facts(loop: PhaseLoop, found: Findings | None, steps: list[str]) -> dict[str, Any]:
    return {
        **msgspec.to_builtins(loop),
        "phases": [_row(loop, phase) for phase in PHASES],
        "findings": msgspec.to_builtins(found) if found is not None else None,
        "next": steps,
    }


def _row(loop: PhaseLoop, phase: Phase) -> dict[str, Any]:
    receipt = receipt_of(loop, phase)
    return {
        "phase": phase,
        "state": state_of(loop, phase),
        "artifact": receipt.artifact if receipt is not None else None,
        "git_sha": receipt.git_sha if receipt is not None else None,
    }


def _tell_progress(loop: PhaseLoop) -> None:
    done = sum(state_of(loop, phase) in _PAST for phase in PHASES)
    bar = click.style("█" * done, fg="green") + faint("░" * (len(PHASES) - done))
    shown = click.style(loop.status, fg=_COLOURS[loop.status], bold=True)
    turn = f", turn {loop.phase_iteration + 1} of {loop.max_phase_iterations}" if loop.status == "running" else ""
    tell(f"{loop.phase}{turn}", head=f"{shown}  {bar}  ")
    if loop.stop_reason:
        tell(prose(loop.stop_reason), head="  ")


def _tell_phase(loop: PhaseLoop, phase: Phase) -> None:
    state, receipt = state_of(loop, phase), receipt_of(loop, phase)
    symbol, colour = _MARKS[state]
    head = f"  {click.style(symbol, fg=colour) if colour else symbol} {phase:<10}  "
    note = "left by force" if state == "forced" else "skipped" if state == "skipped" else ""
    if receipt is not None and state in ("done", "now"):
        tell(prose(receipt.artifact), head=head, note=receipt.git_sha[:10])
    else:
        tell(note, head=head if note else head.rstrip(), style=faint)


def _tell_rest(loop: PhaseLoop, found: Findings | None) -> None:
    enforced = "enforced" if loop.enforce_budget else "informational"
    facts = [
        f"turns {loop.global_iteration} of {loop.max_iterations}",
        f"rounds of fixing {loop.fix_review_cycles} of {loop.max_fix_cycles}",
        f"${loop.spent_usd:,.2f} of ${loop.budget_limit_usd:,.2f} ({enforced})",
        *([f"on {loop.artifacts.branch}"] if loop.artifacts.branch else []),
    ]
    tell(prose(" · ".join(facts)), style=faint)
    if found is not None:
        tell(f"findings: {len(found.open)} open, {len(found.resolved)} resolved, {len(found.accepted)} accepted")
    if loop.tests_verdict is not None:
        verdict = loop.tests_verdict
        told = "pass" if verdict.passed else "fail"
        tell(prose(f"acceptance tests {told} at {verdict.commit[:10]}"), head=f"{mark(verdict.passed)} ")
    for one in refusals(loop) if loop.status != "completed" else ():
        tell(prose(one), head=f"{mark(False)} ")
    for told in _forced(loop):
        tell(prose(told), head=f"{click.style('!', fg='yellow')} ")


def _forced(loop: PhaseLoop) -> Iterator[str]:
    return (f"{one.phase}: {one.message}" for one in loop.errors if one.forced)


def _findings(ground: Ground, loop: PhaseLoop) -> Findings | None:
    from aotloop.phases.documents import findings_in  # noqa: PLC0415 - help needs no Markdown

    receipt = receipt_of(loop, "re_review") or receipt_of(loop, "review")
    if receipt is None:
        return None
    try:
        with (ground.root / receipt.artifact).open("rb") as file:
            return findings_in(file.read(_LARGEST).decode("utf-8", "replace"))
    except OSError:
        return None
