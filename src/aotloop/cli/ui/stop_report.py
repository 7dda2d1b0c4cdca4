"""What a person is told of a stop: a line while the process still runs, and the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from aotloop.app.run.stop import OnWait, StopResult
from aotloop.cli.ui.output import faint
from aotloop.cli.ui.progress_line import ERASED
from aotloop.statefile.lease import Holder


def stopped_in_words(stopping: StopResult, *, is_waiting: bool = False) -> str:
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
