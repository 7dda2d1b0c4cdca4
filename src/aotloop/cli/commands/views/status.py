"""`aot status`: it shows the state of the loop in a few lines, and what to do next."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from typing import Any

import click
import msgspec

from aotloop.app.diagram import draw
from aotloop.app.history.attempts import remote_attempts
from aotloop.app.history.costs import Cost, Costs, costs_of, spending
from aotloop.app.loops import open_store
from aotloop.cli.ui.allowance import bound_as_data, bound_in_words, bound_of, effort_in_words
from aotloop.cli.ui.failures import cut_off_in_words, failures_as_data, failures_in_words, hopeless_of, is_failing
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import faint, heading, mark, named, say_json, say_next, tell
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_allowed
from aotloop.core.model import Loop, TrailEntry, Verdict
from aotloop.statefile.lease import holder_of
from aotloop.statefile.yaml.emitter import to_data
from aotloop.text.phrases import counted, dollars, lasting
from aotloop.text.sanitize import prose, visible
from aotloop.text.shorten import headline
from aotloop.trust.verdicts import is_backed

MOST_ROWS = 5
_WIDEST = 24

LARGEST_DRAWN = 40
MOST_FAILURES = 3
COLOURS = {"pending": "cyan", "running": "yellow", "stopped": "magenta", "completed": "green"}

_VERIFIED = "nothing to do: the base case is verified"


@click.command(
    "status",
    epilog="""\b
Examples:
  aot status
  aot status --json | jq .unresolved
""",
)
@state_file_option
@json_option
def command(state_file: str | None, as_json: bool) -> None:
    """Show objective, progress, cost, the graph and next steps.

    The cost is shown for each atom, agent and role, as far as agents tell it.
    """
    store = open_store(state_file)
    loop = store.load()
    graph = Graph(loop)
    is_run = holder_of(store.path) is not None
    steps = _next_steps(store.path, loop, graph, is_run=is_run)
    costs = costs_of(store.path, loop)
    cut_off = cut_off_in_words(loop) if not is_run else None
    elsewhere = remote_attempts(store.path) if is_run else {}
    if as_json:
        facts = {**_facts(loop, graph), "is_run": is_run, "costs": msgspec.to_builtins(costs)}
        if elsewhere:
            facts["elsewhere"] = msgspec.to_builtins(elsewhere)
        say_json({**facts, "cut_off": cut_off is not None, "next": steps})
        return
    _tell_objective(loop)
    _tell_progress(loop, graph, is_paused=is_run and loop.control.paused)
    if cut_off is not None:
        tell(cut_off, head=click.style("! ", fg="yellow", bold=True))
    for name, where in elsewhere.items():
        tell(f"{prose(name)}: {prose(where.words)}", note=prose(where.line))
    _tell_events(loop, graph)
    tell_costs(costs)
    if len(loop.atoms) <= LARGEST_DRAWN:
        click.echo()
        on_terminal = sys.stdout.isatty() and click.get_current_context().color is not False
        click.echo(draw(loop, "text", width=shutil.get_terminal_size().columns, colour=on_terminal).rstrip("\n"))
    say_next(*steps)


def _facts(loop: Loop, graph: Graph) -> dict[str, Any]:
    limits = limits_of(loop.objective.constraints)
    return {
        "goal": loop.objective.goal,
        "control": to_data(loop.control),
        "effort": loop.objective.constraints.effort,
        "constraints": msgspec.to_builtins(limits),
        "tried": loop.control.tried,
        "attempts_allowed": attempts_allowed(loop, limits),
        "required": len(graph.required),
        "unresolved": graph.unresolved(),
        "in_progress": [atom.id for atom in loop.atoms if atom.status == "in_progress"],
        "executable_atoms": graph.ready(),
        "failed_atoms": {atom.id: failures_as_data(atom) for atom in loop.atoms if is_failing(atom)},
        "failures": [to_data(entry) for entry in loop.trail if entry.type == "failure"][-5:],
        **bound_as_data(bound_of(loop)),
    }


def _tell_objective(loop: Loop) -> None:
    tell(prose(loop.objective.goal) or "(no goal yet)", style=heading)
    if done := prose(loop.objective.definition_of_done):
        tell(f"done when: {done}", style=faint)


def _tell_progress(loop: Loop, graph: Graph, *, is_paused: bool) -> None:
    control, limits = loop.control, limits_of(loop.objective.constraints)
    required, unresolved = len(graph.required), len(graph.unresolved())
    done = required - unresolved
    filled = round(20 * done / required) if required else 0
    bar = click.style("█" * filled, fg="green") + faint("░" * (20 - filled))
    status = click.style(control.status, fg=COLOURS[control.status], bold=True)
    paused = f"  {click.style('paused', fg='yellow', bold=True)}" if is_paused else ""
    tell(f"{done} of {counted(required, 'required atom')} resolved", head=f"{status}{paused}  {bar}  ")
    tell(
        f"iteration {control.iteration} of {limits.max_iterations}"
        f" · stalls {control.stall_count} of {limits.max_stall_count}"
        f" · up to {limits.max_parallel_agents} at once"
        + "".join(f" · {amount}" for amount in spending(control.cost_usd, control.used, limits.max_cost_usd))
    )
    left = f" · {bound_in_words(bound_of(loop))}" if control.status != "completed" else ""
    tell(f"{effort_in_words(control)}{left}", style=faint)


def _tell_events(loop: Loop, graph: Graph) -> None:
    if loop.control.stop_reason:
        tell(f"stop reason: {prose(loop.control.stop_reason)}")
    if loop.control.verdict is not None:
        verdict = loop.control.verdict
        passed = None if verdict.undecided else verdict.passed
        tell(_judged(verdict), head=f"{mark(passed)} ")
    for entry in _last_failures(loop, graph):
        often = failures_in_words(graph, graph.atoms[entry.atom or ""])
        tell(headline(f"{entry.atom} failed: {entry.reason}"), head=f"{mark(False)} ", note=often)


def _last_failures(loop: Loop, graph: Graph) -> list[TrailEntry]:
    """The last failure of each atom that failed most recently, and was not removed since."""
    last: dict[str | None, TrailEntry] = {}
    for entry in reversed(loop.trail):
        if entry.type == "failure" and entry.atom in graph.atoms and len(last) < MOST_FAILURES:
            last.setdefault(entry.atom, entry)
    return list(reversed(last.values()))


def _judged(verdict: Verdict) -> str:
    found = "undecided" if verdict.undecided else "it holds" if verdict.passed else "it does not hold"
    failing = f": {', '.join(verdict.failing)}" if verdict.failing else ""
    return prose(f"base case at {verdict.at}: {found}{failing}")


def _next_steps(state_file: str, loop: Loop, graph: Graph, *, is_run: bool) -> list[str]:
    control = loop.control
    if control.status == "completed":
        return [_VERIFIED] if is_backed(state_file, loop) else ["aot run"]
    if is_run:
        return ["aot resume", "aot watch", "aot stop"] if control.paused else ["aot watch", "aot redirect", "aot stop"]
    if control.verdict is not None and control.verdict.undecided and not graph.unresolved():
        return ["aot confirm"]
    if control.status == "pending":
        return ["aot gate", "aot run"]
    kind = (control.stop_reason or "").partition(":")[0]
    if kind == "blocked" and (hopeless := hopeless_of(graph)) is not None:
        return [f"aot log {named(hopeless)}", "aot redirect", "aot run"]
    again = "aot run with a higher limit" if kind == "limit" else "aot run"
    return [again, *(["aot log", "aot redirect"] if kind else [])]


def tell_costs(costs: Costs) -> None:
    if not any(cost.is_known for table in (costs.by_atom, costs.by_agent, costs.by_role) for cost in table.values()):
        return
    click.echo()
    click.echo(heading("Cost"))
    for label, table in (("atom", costs.by_atom), ("agent", costs.by_agent), ("role", costs.by_role)):
        _tell_table(label, table)
    if costs.unknown_usd:
        click.echo(faint(f"  {dollars(costs.unknown_usd)} more are in the state file, but not in the journal"))


def _tell_table(label: str, table: Mapping[str, Cost]) -> None:
    known = [(name, cost) for name, cost in table.items() if cost.is_known]
    for name, cost in known[:MOST_ROWS]:
        facts = [*spending(cost.usd or 0.0, cost.used), counted(cost.attempts, "attempt")]
        facts += [lasting(cost.seconds)] if cost.seconds >= 1 else []
        click.echo(f"  {faint(f'{label:<6}')} {visible(name):<{_WIDEST}} {' · '.join(facts)}")
    if len(known) > MOST_ROWS:
        click.echo(faint(f"  {label:<6} … {len(known) - MOST_ROWS:,} more; --json has all"))
