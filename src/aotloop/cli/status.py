"""`aot status`: where the loop stands, at a glance, and what to do next."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import click

from aotloop import app
from aotloop.cli.bound import bound_as_data, bound_in_words, bound_of
from aotloop.cli.drawing import draw
from aotloop.cli.foreign import prose
from aotloop.cli.options import json_option, state_file_option
from aotloop.cli.output import counted, faint, heading, mark, named, say_json, say_next, tell
from aotloop.core.graph import Graph
from aotloop.core.model import Loop, Verdict
from aotloop.statefile.emit import to_data

LARGEST_DRAWN = 40
COLOURS = {"pending": "cyan", "running": "yellow", "stopped": "magenta", "completed": "green"}


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
    """Show objective, progress, the graph and next steps."""
    loop = app.open_store(state_file).load()
    graph = Graph(loop)
    if as_json:
        say_json(_facts(loop, graph))
        return
    _tell_objective(loop)
    _tell_progress(loop, graph)
    _tell_events(loop)
    if len(loop.atoms) <= LARGEST_DRAWN:
        click.echo()
        on_terminal = sys.stdout.isatty() and click.get_current_context().color is not False
        click.echo(draw(loop, "text", width=shutil.get_terminal_size().columns, colour=on_terminal).rstrip("\n"))
    say_next(*_next_steps(loop, graph))


def _facts(loop: Loop, graph: Graph) -> dict[str, Any]:
    return {
        "goal": loop.objective.goal,
        "control": to_data(loop.control),
        "constraints": to_data(loop.objective.constraints),
        "required": len(graph.required),
        "unresolved": graph.unresolved(),
        "in_progress": [atom.id for atom in loop.atoms if atom.status == "in_progress"],
        "executable_atoms": graph.ready(),
        "failures": [to_data(entry) for entry in loop.trail if entry.type == "failure"][-5:],
        **bound_as_data(bound_of(loop, graph)),
        "next": _next_steps(loop, graph),
    }


def _tell_objective(loop: Loop) -> None:
    tell(prose(loop.objective.goal) or "(no goal yet)", style=heading)
    if done := prose(loop.objective.definition_of_done):
        tell(f"done when: {done}", style=faint)


def _tell_progress(loop: Loop, graph: Graph) -> None:
    control, limits = loop.control, loop.objective.constraints
    required, unresolved = len(graph.required), len(graph.unresolved())
    done = required - unresolved
    filled = round(20 * done / required) if required else 0
    bar = click.style("█" * filled, fg="green") + faint("░" * (20 - filled))
    status = click.style(control.status, fg=COLOURS[control.status], bold=True)
    tell(f"{done} of {counted(required, 'required atom')} resolved", head=f"{status}  {bar}  ")
    tell(
        f"iteration {control.iteration} of {limits.max_iterations}"
        f" · stalls {control.stall_count} of {limits.max_stall_count}"
        f" · up to {limits.max_parallel_agents} at once"
        + (f" · ${control.cost_usd:.2f} spent" if control.cost_usd else "")
    )
    if control.status != "completed":
        tell(f"{bound_in_words(bound_of(loop, graph), growth='')} from now on", style=faint)


def _tell_events(loop: Loop) -> None:
    if loop.control.stop_reason:
        tell(f"stop reason: {prose(loop.control.stop_reason)}")
    if loop.control.verdict is not None:
        verdict = loop.control.verdict
        passed = None if verdict.undecided else verdict.passed
        tell(_judged(verdict), head=f"{mark(passed)} ")
    for entry in [entry for entry in loop.trail if entry.type == "failure"][-2:]:
        tell(prose(f"{entry.atom} failed: {entry.reason}"), head=f"{mark(False)} ")


def _judged(verdict: Verdict) -> str:
    found = "undecided" if verdict.undecided else "it holds" if verdict.passed else "it does not hold"
    failing = f": {', '.join(verdict.failing)}" if verdict.failing else ""
    return prose(f"base case at {verdict.at}: {found}{failing}")


def _next_steps(loop: Loop, graph: Graph) -> list[str]:
    if loop.control.status == "completed":
        return ["nothing: the base case was verified"]
    ready = graph.ready()
    if not graph.unresolved():
        return ["aot verify"]
    if loop.control.status in ("pending", "stopped") and loop.control.iteration == 0 and not loop.bindings:
        return ["aot gate", *(f"aot atom start {named(one)}" for one in ready[:1])]
    running = [atom.id for atom in loop.atoms if atom.status == "in_progress"]
    steps = [f"aot atom start {named(one)}" for one in ready[:2]]
    steps += [f"aot atom resolve {named(one)}" for one in running[:2]]
    return steps or ["nothing can start: aot atom list says why"]
