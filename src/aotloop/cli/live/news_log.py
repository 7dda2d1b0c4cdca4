"""The news of runs as lines, the last ones first and then those that come; all of them, or those about one atom."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click

from aotloop.cli.live.about import is_about
from aotloop.cli.live.journal import EventsFile, is_passed_on, news_of
from aotloop.cli.live.lines_of_news import as_words
from aotloop.cli.output import tell

FIRST_NEWS = 20
SEARCHED_BYTES = 8 << 20
"""From the end of the news, for the first that are shown."""
POLL_SECONDS = 0.15


def follow_news(state_file: str, atom: str | None, *, as_json: bool, on_nothing: Callable[[], object]) -> None:
    """Until somebody ends it. `on_nothing` is called if there are no news so far."""
    events = EventsFile(state_file)
    events.start_near_end(SEARCHED_BYTES)
    lines = _wanted(events.fresh(), atom)
    if not lines:
        on_nothing()
        tell("There are no news yet; they appear here as they come.", err=True)
    _put(lines[-FIRST_NEWS:], as_json=as_json)
    while True:
        time.sleep(POLL_SECONDS)
        _put(_wanted(events.fresh(), atom), as_json=as_json)


def _wanted(lines: list[bytes], atom: str | None) -> list[bytes]:
    if atom is None:
        return [line for line in lines if is_passed_on(line)]
    return [line for line in lines if (one := news_of(line)) is not None and is_about(one, atom)]


def _put(lines: list[bytes], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.writelines(line + b"\n" for line in lines)
        sys.stdout.buffer.flush()
        return
    for line in lines:
        one = news_of(line)
        told = as_words(one) if one is not None else None
        if told is not None:
            click.echo(told)
