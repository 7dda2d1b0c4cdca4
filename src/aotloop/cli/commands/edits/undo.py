"""`aot undo`: it takes back what a run or an atom merged, by commits that revert it."""

from __future__ import annotations

import click
import msgspec

from aotloop.app.loops import open_store
from aotloop.app.undo import Undone, undo
from aotloop.cli.ui.loop_names import complete_atom
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import report_done
from aotloop.text.sanitize import prose


@click.command(
    "undo",
    epilog="""\b
Examples:
  aot undo --dry-run         show what would be taken back
  aot undo                   all that the loop merged
  aot undo A2                only A2, and what was built on it
""",
)
@state_file_option
@json_option
@click.option("--dry-run", is_flag=True, help="Only show what would be reverted.")
@click.argument("atom", required=False, shell_complete=complete_atom)
def command(state_file: str | None, as_json: bool, dry_run: bool, atom: str | None) -> None:
    """Take back all that the loop merged, or the work of ATOM and what was built on it, as reverts.

    The history stays, and other commits are not touched. The atoms are open again: `aot run` does them again. If a file
    changed since, nothing is reverted.
    """
    done = undo(open_store(state_file), atom, only_show=dry_run)
    report_done(
        as_json=as_json,
        data={**msgspec.to_builtins(done), "dry_run": dry_run},
        message=prose(_said(done, dry_run=dry_run)),
        steps=["aot undo"] if dry_run else ["git log", "aot redirect", "aot run"],
    )


def _said(done: Undone, *, dry_run: bool) -> str:
    would = "would be " if dry_run else ""
    message = f"{would}reverted: {', '.join(done.atoms)}" if done.atoms else "nothing was left to revert"
    return message + (f"; {would}open again: {', '.join(done.reopened)}" if done.reopened else "")
