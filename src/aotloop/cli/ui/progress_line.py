"""Shows the running commands in one line that is erased at the end; never on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.cells import set_cell_size

from aotloop.checks.evaluation import Progress
from aotloop.checks.results import CheckResult
from aotloop.text.sanitize import prose

ERASED = "\r\x1b[2K"


@contextmanager
def progress_line() -> Iterator[Progress | None]:
    """None without a terminal, or if the terminal cannot erase a line."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield None
        return
    line = _Line(coloured=click.get_current_context().color is not False)
    try:
        yield line.note
    finally:
        sys.stderr.write(ERASED)
        sys.stderr.flush()


class _Line:
    def __init__(self, *, coloured: bool) -> None:
        self._coloured = coloured
        self._running: list[str] = []
        self._done = 0

    def note(self, name: str, what: str, _: CheckResult | None) -> None:
        if what == "started":
            self._running.append(name)
        else:
            self._running.remove(name)
            self._done += 1
        self._draw()

    def _draw(self) -> None:
        text = f"  … {self._done} done; running: {', '.join(map(prose, self._running))}"
        width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        shown = set_cell_size(text, width - 1).rstrip()
        sys.stderr.write(f"{ERASED}{click.style(shown, dim=True) if self._coloured else shown}")
        sys.stderr.flush()
