"""Laws of the file: it stays valid, and nothing in it is lost."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.effects import Backtracked, Finished, Withdrawn
from aotloop.core.invariants import findings_of
from aotloop.core.scheduler import reports
from prove.step import Step


def the_loop_stays_valid(step: Step) -> Iterator[str]:
    for finding in findings_of(step.loop):
        if finding.level == "error":
            yield str(finding)
    plain = step.plain
    for atom in step.loop.atoms:
        if atom.status == "pending" and atom.id in step.loop.bindings:
            yield f"{atom.id} is pending and has a result"
        if atom.status == "resolved" and not all(map(plain.is_met, plain.parts(atom.id))):
            yield f"{atom.id} is resolved before its parts"


def history_is_kept(step: Step) -> Iterator[str]:
    if not step.is_correction and step.loop.trail[: len(step.before.loop.trail)] != step.before.loop.trail:
        yield "the trail was shortened or rewritten"
    gone = {atom.id for atom in step.before.loop.atoms} - {atom.id for atom in step.loop.atoms}
    allowed = {one for effect in step.asked(Backtracked) for one in effect.dropped}
    allowed |= {one for effect in step.asked(Withdrawn) for one in effect.atoms}
    if step.is_correction:
        allowed |= {atom.id for atom in step.before.loop.atoms if atom.repairs is not None}
    if gone - allowed:
        yield f"{', '.join(sorted(gone - allowed))} vanished"


def a_stop_keeps_everything(step: Step) -> Iterator[str]:
    if step.asked(Finished) and isinstance(step.report, reports.Happened):
        if {atom.id for atom in step.before.loop.atoms} != {atom.id for atom in step.loop.atoms}:
            yield "atoms were lost"
        kept = {one: step.before.loop.bindings[one] for one in step.before.loop.bindings}
        if kept != step.loop.bindings:
            yield "results were lost"


LAWS = (
    the_loop_stays_valid,
    history_is_kept,
    a_stop_keeps_everything,
)
