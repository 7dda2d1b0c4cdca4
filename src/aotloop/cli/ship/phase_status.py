"""`aot ship status`: it shows the phases of the feature, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from aotloop.app.ship.status import feature_status
from aotloop.cli.ui.options import json_option
from aotloop.cli.ui.output import faint, heading, mark, say_json, say_next, tell
from aotloop.core.phases.gaps import REVIEW_OF_TESTS, gaps_of
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.core.phases.phase_progress import state_of
from aotloop.core.phases.receipts import receipt_of
from aotloop.phases.guidance import refusals
from aotloop.text.phrases import dollars
from aotloop.text.sanitize import prose
from aotloop.text.shorten import headline, short_line

if TYPE_CHECKING:
    from aotloop.phases.evidence.documents import Findings

_COLOURS = {"running": "yellow", "waiting": "cyan", "stopped": "magenta", "completed": "green", "cancelled": "red"}
_MARKS = {"done": ("✔", "green"), "forced": ("!", "yellow"), "now": ("▶", "cyan"), "skipped": ("-", ""), "": (" ", "")}
_PAST = ("done", "forced", "skipped")
_LARGEST = 1_000_000
_LONGEST = 600


@click.command(
    "status",
    short_help="Show the state of the feature, and what is next.",
    epilog="""\b
Examples:
  aot ship status
  aot ship status --json | jq .phase
""",
)
@json_option
def status(as_json: bool) -> None:
    """Show the state of the feature: phases, receipts, limits, money, findings, and what is next."""
    shown = feature_status()
    loop = shown.loop
    if as_json:
        say_json(shown.as_data())
        return
    tell(prose(short_line(loop.feature, _LONGEST)), style=heading)
    _tell_progress(loop)
    for phase in PHASES:
        _tell_phase(loop, phase)
    _tell_rest(loop, shown.findings)
    say_next(*shown.next_steps)


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
        f"{dollars(loop.spent_usd)} of {dollars(loop.budget_limit_usd)} ({enforced})",
        *([f"on {loop.artifacts.branch}"] if loop.artifacts.branch else []),
    ]
    tell(prose(" · ".join(facts)), style=faint)
    if found is not None:
        tell(f"findings: {len(found.open)} open, {len(found.resolved)} resolved, {len(found.accepted)} accepted")
    if loop.tests_verdict is not None:
        verdict = loop.tests_verdict
        result = "pass" if verdict.passed else "fail"
        tell(prose(f"acceptance tests {result} at {verdict.commit[:10]}"), head=f"{mark(verdict.passed)} ")
    if REVIEW_OF_TESTS in gaps_of(loop).skipped:
        tell(f"skipped: {REVIEW_OF_TESTS}", head=f"{click.style('!', fg='yellow')} ")
    for refusal, times in Counter(refusals(loop) if loop.status != "completed" else ()).items():
        tell(headline(refusal), head=f"{mark(False)} ", note=f"{times} times" if times > 1 else "")
    for result in _forced(loop):
        tell(prose(result), head=f"{click.style('!', fg='yellow')} ")


def _forced(loop: PhaseLoop) -> Iterator[str]:
    return (f"{error.phase}: {error.message}" for error in loop.errors if error.forced)
