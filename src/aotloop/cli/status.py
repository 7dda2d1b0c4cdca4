"""`aot status`: where the loop stands, at a glance, and what to do next."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import click

from aotloop import app
from aotloop.cli.drawing import draw
from aotloop.cli.output import counted, heading, json_option, mark, say_json, say_next, state_file_option
from aotloop.core.graph import Graph
from aotloop.core.model import Loop
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
        "next": _next_steps(loop, graph),
    }


def _tell_objective(loop: Loop) -> None:
    click.echo(heading(loop.objective.goal.strip() or "(no goal yet)"))
    if loop.objective.definition_of_done.strip():
        click.echo(click.style(f"done when: {loop.objective.definition_of_done.strip()}", dim=True))


def _tell_progress(loop: Loop, graph: Graph) -> None:
    control, limits = loop.control, loop.objective.constraints
    required, unresolved = len(graph.required), len(graph.unresolved())
    done = required - unresolved
    filled = round(20 * done / required) if required else 0
    bar = click.style("█" * filled, fg="green") + click.style("░" * (20 - filled), dim=True)
    status = click.style(control.status, fg=COLOURS[control.status], bold=True)
    click.echo(f"{status}  {bar}  {done} of {counted(required, 'required atom')} resolved")
    click.echo(
        f"iteration {control.iteration} of {limits.max_iterations}"
        f" · stalls {control.stall_count} of {limits.max_stall_count}"
        f" · up to {limits.max_parallel_agents} at once"
        + (f" · ${control.cost_usd:.2f} spent" if control.cost_usd else "")
    )
    if control.stop_reason:
        click.echo(f"stop reason: {control.stop_reason}")
    if control.verdict is not None:
        verdict = control.verdict
        passed = None if verdict.undecided else verdict.passed
        failing = f": {', '.join(verdict.failing)}" if verdict.failing else ""
        click.echo(f"{mark(passed)} last verdict at {verdict.at}{failing}")
    for entry in [entry for entry in loop.trail if entry.type == "failure"][-2:]:
        click.echo(f"{mark(False)} {entry.atom} failed: {entry.reason}")


def _next_steps(loop: Loop, graph: Graph) -> list[str]:
    if loop.control.status == "completed":
        return ["nothing: the base case was verified"]
    ready = graph.ready()
    if not graph.unresolved():
        return ["aot verify"]
    if loop.control.status in ("pending", "stopped") and loop.control.iteration == 0 and not loop.bindings:
        return ["aot gate", *(f"aot atom start {one}" for one in ready[:1])]
    running = [atom.id for atom in loop.atoms if atom.status == "in_progress"]
    steps = [f"aot atom start {one}" for one in ready[:2]]
    steps += [f"aot atom resolve {one}" for one in running[:2]]
    return steps or ["nothing can start: aot atom list says why"]
