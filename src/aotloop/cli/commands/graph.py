"""`aot graph`: it draws the work graph as text for the terminal, or as a picture."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import cast, get_args

import click

from aotloop.app.loops import open_store
from aotloop.cli.graph import Format, draw
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import report_done, say_json, say_next
from aotloop.text.sanitize import visible


@click.command(
    "graph",
    epilog="""\b
Examples:
  aot graph
  aot graph --format svg -o graph.svg
  aot graph --format mermaid >> docs/plan.md
""",
)
@state_file_option
@json_option
@click.option("--format", "form", type=click.Choice(get_args(Format)), help="[default: text, or the ending of FILE]")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to FILE.", metavar="FILE")
@click.option("--ascii", "ascii_only", is_flag=True, help="Text without symbols outside ASCII.")
def command(state_file: str | None, as_json: bool, form: str | None, output: Path | None, ascii_only: bool) -> None:
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
    )
    if output is not None:
        output.write_text(drawn, encoding="utf-8")
        data = {"format": form, "output": str(output)}
        report_done(as_json=as_json, data=data, said=f"wrote {visible(str(output))}", steps=["aot status"])
    elif as_json:
        say_json({"format": form, "graph": drawn})
    else:
        click.echo(drawn.rstrip("\n"))
        say_next("aot atom list", "aot graph -o graph.svg")


def _format_of(output: Path) -> str:
    by_ending = {".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid"}
    return by_ending.get(output.suffix.lower(), "text")
