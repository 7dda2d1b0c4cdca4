"""`aot pause`: it keeps a run from starting anything new."""

from __future__ import annotations

import click
import msgspec

from aotloop.app.loops import open_store
from aotloop.app.run import pause
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import report_done
from aotloop.text.sanitize import prose


@click.command(
    "pause",
    epilog="""\b
Examples:
  aot pause
  aot pause --json
""",
)
@state_file_option
@json_option
def command(state_file: str | None, as_json: bool) -> None:
    """Start nothing new until `aot resume`; what runs goes on, and is merged.

    Works from any terminal. `aot stop` still ends the run. Idle time does not count as runtime.
    """
    done = pause.pause(open_store(state_file))
    going_on = f"; {', '.join(done.in_progress)} will still finish" if done.in_progress else ""
    message = f"the run is {'' if done.has_changed else 'already '}paused: nothing new starts{going_on}"
    steps = ["aot resume", "aot watch"]
    report_done(as_json=as_json, data=msgspec.to_builtins(done), message=prose(message), steps=steps)
