"""`aot stop`: it ends a run and loses no results."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from aotloop.app.loops import open_store
from aotloop.app.run.stop import OnWait, StopResult, ask_to_stop, stop_and_wait
from aotloop.cli.ui.options import WORDS, json_option, state_file_option
from aotloop.cli.ui.output import faint, report_done
from aotloop.cli.ui.progress_line import ERASED
from aotloop.errors import AotError
from aotloop.statefile.lease import Holder
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
        said=prose(in_words(stopping, is_waiting=no_wait and stopping.is_asked)),
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


def in_words(stopping: StopResult, *, is_waiting: bool = False) -> str:
    """What came of it, for a person."""
    reason = f" ({stopping.reason})" if stopping.reason else ""
    runner = stopping.runner.name if stopping.runner is not None else "no process"
    if stopping.was_stopped:
        return f"the loop is already stopped{reason}"
    if is_waiting:
        return f"{runner} was asked to stop{reason}"
    if stopping.status == "stopped":
        again = f"; {', '.join(stopping.abandoned)} will be done again" if stopping.abandoned else ""
        alone = "" if stopping.runner is not None else "; no process was running it"
        return f"the loop is stopped{reason}{alone}{again}"
    if stopping.status == "completed":
        return "the loop was completed before it stopped: the base case holds"
    return f"{runner} has ended, and the loop is {stopping.status}"


@contextmanager
def waiting_line() -> Iterator[OnWait | None]:
    """Shows the process that we wait for, in one line that is erased at the end; None without a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield None
        return

    is_coloured = click.get_current_context().color is not False

    def note(runner: Holder, seconds: float) -> None:
        text = f"  … waiting for {runner.name} to stop, {seconds:.0f} s"
        sys.stderr.write(f"{ERASED}{faint(text) if is_coloured else text}")
        sys.stderr.flush()

    try:
        yield note
    finally:
        sys.stderr.write(ERASED)
        sys.stderr.flush()
