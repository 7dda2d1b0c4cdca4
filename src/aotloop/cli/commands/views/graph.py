"""`aot graph`: it draws the work graph as text for the terminal, or as a picture."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import cast, get_args

import click

from aotloop.app.diagram import EASY_CARDS, Format, draw
from aotloop.app.loops import open_store
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import report_done, say_json, say_next
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.text.sanitize import visible

_ENDINGS = {
    ".svg": "svg",
    ".dot": "dot",
    ".gv": "dot",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".txt": "text",
    "": "text",
}


@click.command(
    "graph",
    epilog="""\b
Examples:
  aot graph
  aot graph -o /tmp/graph.svg
  aot graph --format mermaid >> plan.md
  aot graph --json | jq -r '.edges[] | [.from, .to] | @tsv'
""",
)
@state_file_option
@json_option
@click.option("--format", "form", type=click.Choice(get_args(Format)), help="[default: text, or the ending of FILE]")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to FILE.", metavar="FILE")
@click.option("--ascii", "ascii_only", is_flag=True, help="Text without symbols outside ASCII.")
@click.option("--all", "whole", is_flag=True, help="Draw every atom of a large graph, instead of folding it.")
def command(
    state_file: str | None, as_json: bool, form: str | None, output: Path | None, ascii_only: bool, whole: bool
) -> None:
    """Draw the work graph: atoms in layers, OR groups as boxes, colours by status."""
    form = form or (_format_of(output) if output is not None else "text")
    loop = open_store(state_file).load()
    on_terminal = output is None and not as_json and sys.stdout.isatty()
    drawn = draw(
        loop,
        cast("Format", form),
        width=shutil.get_terminal_size().columns if on_terminal else 100,
        colour=on_terminal and click.get_current_context().color is not False,
        ascii_only=ascii_only,
        most=None if whole else EASY_CARDS,
    )
    if output is not None:
        output.write_text(drawn, encoding="utf-8")
        data = {"format": form, "output": str(output)}
        report_done(as_json=as_json, data=data, message=f"wrote {visible(str(output))}", steps=["aot status"])
    elif as_json:
        say_json({"format": form, "graph": drawn, **_data(loop)})
    else:
        click.echo(drawn.rstrip("\n"))
        say_next("aot atom list", "aot graph -o /tmp/graph.svg")


def _format_of(output: Path) -> str:
    """Raises AotError for an ending that no format has: the file would not be what its name says."""
    form = _ENDINGS.get(output.suffix.lower())
    if form is None:
        raise AotError(
            f"no format has the ending {visible(output.suffix)}: {visible(output.name)}",
            hint=f"Use {', '.join(ending for ending in _ENDINGS if ending)}, or say --format.",
        )
    return form


def _data(loop: Loop) -> dict[str, object]:
    """The graph itself, for other programs: nodes, edges and groups."""
    graph = Graph(loop)
    nodes = [
        {
            "id": atom.id,
            "description": atom.description,
            "status": atom.status,
            "required": atom.id in graph.required,
            "or_group": atom.or_group,
        }
        for atom in loop.atoms
    ]
    edges = [{"from": needed, "to": atom.id, "kind": "needs"} for atom in loop.atoms for needed in atom.depends_on]
    parts = [(parent, child) for parent, children in graph.children_of.items() for child in children]
    edges += [{"from": child, "to": parent, "kind": "part"} for parent, child in parts]
    groups = {
        name: {"choices": list(group.choices), "selected": group.selected} for name, group in loop.or_groups.items()
    }
    return {"nodes": nodes, "edges": edges, "or_groups": groups}
