"""Shows what runs, or what is waited for, in one line that is erased at the end; never on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.cells import set_cell_size

from aotloop.app.run.stop import OnWait
from aotloop.checks.evaluation import Progress
from aotloop.checks.results import CheckResult
from aotloop.statefile.lease import Holder
from aotloop.text.sanitize import prose

ERASED = "\r\x1b[2K"


@contextmanager
def progress_line() -> Iterator[Progress | None]:
    """None without a terminal, or if the terminal cannot erase a line."""
    with _line() as draw:
        yield _Running(draw).note if draw is not None else None


@contextmanager
def waiting_line() -> Iterator[OnWait | None]:
    """Shows the process that we wait for; None as above."""

    def note(runner: Holder, seconds: float) -> None:
        if draw is not None:
            draw(f"  … waiting for {runner.name} to stop, {seconds:.0f} s")

    with _line() as draw:
        yield note if draw is not None else None


@contextmanager
def _line() -> Iterator[Callable[[str], None] | None]:
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield None
        return
    is_coloured = click.get_current_context().color is not False

    def draw(text: str) -> None:
        width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        shown = set_cell_size(text, width - 1).rstrip()
        sys.stderr.write(f"{ERASED}{click.style(shown, dim=True) if is_coloured else shown}")
        sys.stderr.flush()

    try:
        yield draw
    finally:
        sys.stderr.write(ERASED)
        sys.stderr.flush()


class _Running:
    def __init__(self, draw: Callable[[str], None]) -> None:
        self._draw = draw
        self._running: list[str] = []
        self._done = 0

    def note(self, name: str, what: str, _: CheckResult | None) -> None:
        if what == "started":
            self._running.append(name)
        else:
            self._running.remove(name)
            self._done += 1
        self._draw(f"  … {self._done} done; running: {', '.join(map(prose, self._running))}")
