"""`aot validate`: everything that is wrong with the file, and everything that is doubtful."""

from __future__ import annotations

import click

from aotloop import app
from aotloop.cli.output import counted, json_option, mark, say_json, say_next, state_file_option
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
            click.echo(_line(finding))
        found = f"{counted(len(examination.errors), 'error')}, {counted(len(examination.warnings), 'warning')}"
        click.echo(f"{mark(not examination.errors)} {store.path}: {found}")
        if not examination.errors:
            say_next("aot gate", "aot status")
    ctx.exit(1 if examination.errors else 0)


def _line(finding: Finding) -> str:
    colour = "red" if finding.level == "error" else "yellow"
    return f"{click.style(f'{finding.level}:', fg=colour)} {finding}"
