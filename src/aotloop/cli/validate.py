"""`aot validate`: everything that is wrong with the file, and everything that is doubtful."""

from __future__ import annotations

import click

from aotloop import app
from aotloop.cli.foreign import prose, visible
from aotloop.cli.options import json_option, state_file_option
from aotloop.cli.output import counted, mark, named, say_json, say_next, shortest, tell
from aotloop.core.findings import Finding


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
    """Look for mistakes in the state file: syntax, missing keys, dangling references, cycles.

    Exits with 0 if there is no error (warnings do not count), else with 1.
    """
    store = app.open_store(state_file)
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
