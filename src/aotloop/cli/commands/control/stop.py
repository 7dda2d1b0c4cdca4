"""`aot stop`: it ends a run and loses no results."""

from __future__ import annotations

from typing import Any

import click

from aotloop.app.loops import open_store
from aotloop.app.run.stop import StopResult, ask_to_stop, stop_and_wait, stopped_in_words
from aotloop.cli.ui.options import WORDS, json_option, state_file_option
from aotloop.cli.ui.output import report_done
from aotloop.cli.ui.progress_line import waiting_line
from aotloop.errors import AotError
from aotloop.text.sanitize import prose


@click.command(
    "stop",
    epilog="""\b
Examples:
  aot stop
  aot stop --reason "the design has to be discussed first"
  aot stop --no-wait --json
""",
)
@state_file_option
@json_option
@click.option("--reason", type=WORDS, help="The reason; kept in the state file.")
@click.option("--no-wait", is_flag=True, help="Do not wait until the process that runs the loop has ended.")
def command(state_file: str | None, as_json: bool, reason: str | None, no_wait: bool) -> None:
    """Stop the loop. Resolved atoms stay resolved, and `aot run` continues from there.

    Works from any terminal, also during a redirect. It also stops a loop that a crash left behind.
    """
    store = open_store(state_file)
    if no_wait:
        stopping = ask_to_stop(store, reason)
        _refuse_too_early(stopping)
    else:
        with waiting_line() as on_wait:
            stopping = stop_and_wait(store, reason, on_wait=on_wait)
    report_done(
        as_json=as_json,
        data=_data(stopping, is_waiting=no_wait and stopping.is_asked),
        message=prose(stopped_in_words(stopping, is_waiting=no_wait and stopping.is_asked)),
        steps=["aot status", *(["aot run"] if stopping.status == "stopped" else [])],
    )


def _refuse_too_early(stopping: StopResult) -> None:
    if stopping.runner is not None and not stopping.is_asked and stopping.status != "stopped":
        raise AotError(f"{stopping.runner.name} is just starting this loop", hint="Try again in a moment.")


def _data(stopping: StopResult, *, is_waiting: bool) -> dict[str, Any]:
    return {
        "status": stopping.status,
        "stop_reason": stopping.reason,
        "runner": stopping.runner.pid if stopping.runner is not None else None,
        "asked_only": is_waiting,
        "abandoned": list(stopping.abandoned),
    }
