"""Shows the plan of `aot run --dry-run`: the course of a run in which every attempt succeeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

import click
import msgspec

from aotloop.cli.ui.allowance import bound_as_data, bound_in_words
from aotloop.cli.ui.dry_run_plan import Plan, plan_of
from aotloop.cli.ui.output import faint, heading, mark, named, say_json, say_next, shortest, tell
from aotloop.core.invariants import findings_of
from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.simulator import Span
from aotloop.statefile.store import Store
from aotloop.text.phrases import counted
from aotloop.text.sanitize import prose, visible

MOST_ROWS, FIRST_ROWS, LAST_ROWS = 40, 30, 5
MOST_NAMED = 8


def show_plan(store: Store, limits: Mapping[str, Any], *, as_json: bool, in_place: bool = False) -> str | None:
    """`limits`: replace the loop's limits. `in_place`: there is one folder for all attempts.

    Returns why the run would end; None if it would reach the base case.
    """
    loop = store.load()
    _refuse_mistakes(loop, store)
    plan = plan_of(loop, limits, in_place=in_place)
    if as_json:
        say_json(_data(loop, plan, store))
    else:
        _tell(loop, plan)
        say_next(*_next_steps(loop, plan, store))
    return plan.reason


def _refuse_mistakes(loop: Loop, store: Store) -> None:
    errors = [finding for finding in findings_of(loop) if finding.level == "error"]
    if errors:
        more = f", and {counted(len(errors) - 1, 'more error')}" if len(errors) > 1 else ""
        raise StateFileInvalid(f"{store.path}: {errors[0]}{more}", errors, hint="`aot validate` says where.")


def _data(loop: Loop, plan: Plan, store: Store) -> dict[str, Any]:
    estimates = {atom.id: atom.estimate for atom in loop.atoms}
    return {
        "status": loop.control.status,
        "completes": plan.reason is None,
        "reason": plan.reason,
        "left": list(plan.left),
        "slots": plan.slots,
        "unit": plan.unit,
        "unestimated": plan.unestimated,
        "attempts": [{**msgspec.to_builtins(span), "estimate": estimates.get(span.atom)} for span in plan.spans],
        "width": plan.width,
        "critical_path": msgspec.to_builtins(plan.critical_path),
        "total_work": plan.total_work,
        "makespan": plan.makespan,
        "lower_bound": plan.lower_bound,
        "iterations": msgspec.to_builtins(plan.iterations),
        **bound_as_data(plan.bound),
        "next": _next_steps(loop, plan, store),
    }


# --- in words ----------------------------------------------------------------------------------------------------


def _tell(loop: Loop, plan: Plan) -> None:
    if loop.control.status == "completed":
        tell("nothing to do: the base case is verified", head=f"{mark(True)} ")
        return
    if not plan.left and plan.reason is None:
        tell("all atoms are done; only the base case has to be verified", head=f"{mark(True)} ")
    else:
        tell(f"If every attempt succeeds: {counted(len(plan.left), 'atom')}", style=heading)
        _tell_attempts(loop, plan)
        for name, text in _summary(plan):
            tell(text, head=f"  {name:<13}  ")
    if plan.reason is not None:
        tell(prose(f"the run would end with: {plan.reason}"), head=f"{mark(False)} ")


def _tell_attempts(loop: Loop, plan: Plan) -> None:
    """In the order in which they begin. The middle of a long list is omitted."""
    spans = plan.spans
    shown = [*spans[:FIRST_ROWS], *spans[-LAST_ROWS:]] if len(spans) > MOST_ROWS else [*spans]
    if not shown:
        return
    atoms = {atom.id: atom for atom in loop.atoms}
    width = max(len(visible(span.atom)) for span in shown)
    begins = max(len("begin"), *(len(_begin(plan, span)) for span in shown))
    click.echo(faint(f"  {'begin' if plan.unit == 'minutes' else 'step':>{begins}}  slot  atom"))
    for number, span in enumerate(shown):
        if number == FIRST_ROWS and len(shown) < len(spans):
            click.echo(faint(f"  {'…':>{begins}}        {len(spans) - len(shown):,} more; --json has them all"))
        head = f"  {_begin(plan, span):>{begins}}  {span.slot:>4}  {visible(span.atom):<{width}}  "
        tell(prose(atoms[span.atom].description), head=head, note=_note(plan, span, atoms[span.atom].estimate))


def _begin(plan: Plan, span: Span) -> str:
    return _minutes(span.begin) if plan.unit == "minutes" else f"{span.begin + 1:,.0f}"


def _note(plan: Plan, span: Span, estimate: float | None) -> str:
    if span.role == "probe":
        return "probe"
    taken = "" if plan.unit == "atoms" else "no estimate" if estimate is None else f"{_minutes(estimate)} min"
    late = "another choice is faster" if span.is_cancelled else ""
    return ", ".join(filter(None, (taken, late)))


def _summary(plan: Plan) -> Iterator[tuple[str, str]]:
    iterations, path = plan.iterations, plan.critical_path
    if 0 < plan.unestimated < len(plan.left):
        yield "estimates", f"{plan.unestimated} of {counted(len(plan.left), 'atom')} have none and count as 1 min"
    yield "width", f"{plan.width} at once, of {counted(plan.slots, 'slot')}"
    yield "critical path", f"{_chain(path.atoms)}: {_length(plan, path.length, 'atom')}"
    least = _length(plan, plan.lower_bound, "step")
    yield "makespan", f"{_length(plan, plan.makespan, 'step')}; with {counted(plan.slots, 'slot')} at least {least}"
    yield "worst case", bound_in_words(plan.bound)
    after = f" after {iterations.before}" if iterations.before else ""
    needed = iterations.needed if iterations.needed is not None else iterations.planned
    yield "iterations", f"{needed:,}{after}, of {iterations.allowed:,} allowed"


def _length(plan: Plan, length: float, noun: str) -> str:
    """Without estimates, every atom takes one step."""
    return f"{_minutes(length)} min" if plan.unit == "minutes" else counted(ceil(length), noun)


def _minutes(minutes: float) -> str:
    return f"{minutes:,.1f}".removesuffix(".0")


def _chain(atoms: tuple[str, ...]) -> str:
    names = [visible(atom_id) for atom_id in atoms]
    if len(names) > MOST_NAMED:
        names[MOST_NAMED - 2 : -1] = [f"… {len(names) - MOST_NAMED + 1:,} more …"]
    return " → ".join(names)


def _next_steps(loop: Loop, plan: Plan, store: Store) -> list[str]:
    iterations = plan.iterations
    if loop.control.status == "completed":
        return ["aot status"]
    if plan.reason is None:
        return ["aot gate", "aot graph"] if plan.left else ["aot verify"]
    if plan.attempts_needed is not None and plan.attempts_needed > plan.bound:
        return [f"aot run --max-total-attempts {loop.control.tried + plan.attempts_needed}", "aot redirect"]
    if iterations.needed is not None and iterations.before + iterations.needed > iterations.allowed:
        enough = iterations.before + iterations.needed
        return [f"set max_iterations to {enough} in {named(shortest(store.path))}", "aot gate"]
    return ["aot status", "aot atom list"]
