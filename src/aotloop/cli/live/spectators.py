"""Which spectator a run gets: a picture where one can be drawn, else lines. None of them holds it up, nor raises."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from aotloop.cli.boundary import may_colour
from aotloop.runner.spectator import Spectator


def spectator(*, as_json: bool = False, plain: bool = False, stream: TextIO | None = None) -> Spectator:
    """`plain`: lines, even on a terminal. `stream` is standard output unless another one is given."""
    stream = stream if stream is not None else sys.stdout
    if as_json:
        from aotloop.cli.live.lines_of_news import JsonLines  # noqa: PLC0415

        return JsonLines(stream)
    if plain or not can_be_redrawn(stream):
        from aotloop.cli.live.lines_of_news import PlainLog  # noqa: PLC0415

        return PlainLog(stream)
    from aotloop.cli.live.screen import LiveScreen  # noqa: PLC0415 - rich is slow to start

    return LiveScreen(stream, colour=may_colour())


def can_be_redrawn(stream: TextIO) -> bool:
    """A terminal that can take lines back, and shows the letters that we draw with."""
    is_able = stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")
    return is_able and (stream.encoding or "").lower().replace("-", "") == "utf8"
