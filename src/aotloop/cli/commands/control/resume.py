"""`aot resume`: it ends a pause."""

from __future__ import annotations

import click
import msgspec

from aotloop.app.loops import open_store
from aotloop.app.run import pause
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import report_done


@click.command(
    "resume",
    epilog="""\b
Examples:
  aot resume
  aot resume --json
""",
)
@state_file_option
@json_option
def command(state_file: str | None, as_json: bool) -> None:
    """End a pause: the run starts what is ready.

    For a loop that was stopped, use `aot run`.
    """
    done = pause.resume(open_store(state_file))
    message = "the run continues" if done.has_changed else "the run was not paused"
    steps = ["aot pause", "aot watch"]
    report_done(as_json=as_json, data=msgspec.to_builtins(done), message=message, steps=steps)
