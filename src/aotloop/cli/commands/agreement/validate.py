"""`aot validate`: it lists all errors and warnings about the state file."""

from __future__ import annotations

import click

from aotloop.app.loops import open_store
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import mark, named, say_json, say_next, shortest, tell
from aotloop.core.findings import Finding
from aotloop.text.phrases import counted
from aotloop.text.sanitize import prose, visible


@click.command(
    "validate",
    epilog="""\b
Examples:
  aot validate
  aot validate --json | jq .errors
""",
)
@state_file_option
@json_option
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool) -> None:
    """Look for mistakes in the state file: syntax, missing keys, references to nothing, cycles.

    Exits with 0 if there is no error (warnings are allowed), else with 1.
    """
    store = open_store(state_file)
    examination = store.examine()
    if as_json:
        say_json(
            {
                "valid": not examination.errors,
                "errors": [str(finding) for finding in examination.errors],
                "warnings": [str(finding) for finding in examination.warnings],
                "atom_count": len(examination.loop.atoms) if examination.loop is not None else 0,
            }
        )
    else:
        for finding in examination.findings:
            tell(prose(str(finding)), head=_level(finding))
        found = f"{counted(len(examination.errors), 'error')}, {counted(len(examination.warnings), 'warning')}"
        tell(f"{visible(shortest(store.path))}: {found}", head=f"{mark(not examination.errors)} ")
        again = [f"edit {named(shortest(store.path))}", "aot validate"]
        say_next(*(again if examination.errors else ["aot gate", "aot status"]))
    ctx.exit(1 if examination.errors else 0)


def _level(finding: Finding) -> str:
    return click.style(f"{finding.level}:", fg="red" if finding.level == "error" else "yellow") + " "
