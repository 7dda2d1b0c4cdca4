"""`aot diff`: it prints what one attempt changed, as a patch."""

from __future__ import annotations

import sys

import click
import msgspec

from aotloop.app.loops import open_store
from aotloop.app.show import diff_of_attempt
from aotloop.cli.ui.attempt_views import diff_lines, stat_lines
from aotloop.cli.ui.loop_names import complete_attempt
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import named, say_json, say_next, tell
from aotloop.git.commits.commit_diff import FileDiff
from aotloop.text.sanitize import visible


@click.command(
    "diff",
    epilog="""\b
Examples:
  aot diff A2#1
  aot diff A2 --stat
  aot diff A2#1 | git apply          take the changes of an attempt that was not merged
  aot diff A2#1 --json | jq -r '.files[].path'
""",
)
@state_file_option
@json_option
@click.option("--stat", is_flag=True, help="Only the names of files, and counts of lines.")
@click.argument("name", shell_complete=complete_attempt)
def command(state_file: str | None, as_json: bool, stat: bool, name: str) -> None:
    """Print what an attempt changed, also one that was not merged: A2#1, or A2 for its last attempt."""
    attempt, files, why_none = diff_of_attempt(open_store(state_file), name)
    if as_json:
        data = {"name": attempt.name, "fate": attempt.fate, "commit": attempt.commit, "no_diff": why_none}
        say_json({**data, "files": msgspec.to_builtins(files)})
        return
    if not files:
        tell(f"{visible(attempt.name)}: {why_none or 'it changed no file'}", err=True)
    elif stat:
        for line in stat_lines(files):
            click.echo(line)
    else:
        _print(files)
    say_next(f"aot show {named(attempt.name)}", f"aot log {named(attempt.atom)}")


def _print(files: tuple[FileDiff, ...]) -> None:
    """Into a pipe it goes unchanged, so that `git apply` can read it."""
    if sys.stdout.isatty():
        for line in diff_lines(files):
            click.echo(line)
        return
    for file in files:
        sys.stdout.buffer.write(file.patch.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    if cut := [file.path for file in files if file.is_cut]:
        tell(f"too long, and cut: {', '.join(map(visible, cut))}", err=True)
