"""`aot watch`: it shows a run in another terminal; it only reads files, and ends without effect on the run."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable

import click
from rich.console import Console

from aotloop.app.loops import open_store
from aotloop.cli.error_handler import may_colour
from aotloop.cli.live.event_lines import as_words
from aotloop.cli.live.keys.run_actions import RunActions
from aotloop.cli.live.observers import can_be_redrawn, observer_for
from aotloop.cli.live.picture.frame import draw
from aotloop.cli.live.run_files import POLL_SECONDS, Scene
from aotloop.cli.live.run_view import Picture
from aotloop.cli.ui.failures import cut_off_in_words
from aotloop.cli.ui.options import state_file_option
from aotloop.cli.ui.output import say_next, tell
from aotloop.clock import now, unix_time
from aotloop.core.model import Loop
from aotloop.execution.journals.event_file import is_passed_on
from aotloop.exit_codes import INTERRUPTED
from aotloop.statefile.lease import Holder, holder_of
from aotloop.statefile.store import Store

SIZE_WITHOUT_TERMINAL = (100, 100)
"""Columns and lines of a picture that is written into a file or a pipe."""


@click.command(
    "watch",
    epilog="""\b
Examples:
  aot watch
  aot watch --once
  aot watch --json | jq -r .kind
""",
)
@state_file_option
@click.option("--json", "as_json", is_flag=True, help="Print the events as lines of JSON and nothing else.")
@click.option("--once", is_flag=True, help="Show the state now, and do not wait.")
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool, once: bool) -> None:
    """Watch a run from another terminal, until it ends. Ctrl-C ends the watching, never the run.

    If no process runs the loop, its state is shown, and the watching begins with the next run.
    """
    store = open_store(state_file)
    loop = store.load()
    holder = holder_of(store.path)
    is_over = once or (holder is None and loop.control.status == "completed")
    try:
        if holder is None:
            tell(_not_running(loop, waits=not is_over), err=True)
        if is_over or (holder is None and not as_json):
            _show_now(store, loop, holder, as_json=as_json)
        if not is_over:
            _watch(store, holder or _next_run(store), as_json=as_json)
    except KeyboardInterrupt:
        is_run = holder_of(store.path) is not None
        tell("The run continues." if is_run else "Nothing was changed.", err=True)
        ctx.exit(INTERRUPTED)
    if is_over and holder is None:
        say_next("aot status" if loop.control.status == "completed" else "aot run")


def _not_running(loop: Loop, *, waits: bool) -> str:
    state = cut_off_in_words(loop) or "no process runs this loop now"
    then = "; this is its state, and the watching begins with the next run (Ctrl-C ends it)" if waits else ""
    return f"{state[:1].upper()}{state[1:]}{then or '; this is its state'}."


def _next_run(store: Store) -> Holder:
    while (holder := holder_of(store.path)) is None:
        time.sleep(POLL_SECONDS)
    return holder


def _show_now(store: Store, loop: Loop, holder: Holder | None, *, as_json: bool) -> None:
    scene = Scene(store, holder)
    if as_json:
        _pass_on(scene, [False])
    else:
        _show_once(scene, loop, is_run=holder is not None)


def _watch(store: Store, holder: Holder, *, as_json: bool) -> None:
    scene = Scene(store, holder)
    if as_json:
        _pass_on(scene, scene.polls())
    elif can_be_redrawn(sys.stdout):
        _show(scene, store, store.load())
    else:
        _log(scene)


def _show(scene: Scene, store: Store, loop: Loop) -> None:
    screen = observer_for(actions=RunActions(store.path))
    screen.open(loop)
    try:
        for is_run in scene.polls():
            scene.show(screen, is_last=not is_run)
        if (end := scene.missing_end(now())) is not None:
            screen.news(end)
    finally:
        screen.close()


def _show_once(scene: Scene, loop: Loop, *, is_run: bool) -> None:
    picture = Picture(loop)
    for event in scene.news():
        picture.take(event)
    for attempt, line in scene.outputs():
        picture.set_line(attempt, line)
    if not is_run:
        picture.settle()
    if not sys.stdout.isatty():
        click.echo(draw(picture, *SIZE_WITHOUT_TERMINAL, unix_time(), colour=False).text(), nl=False)
        return

    width, height = shutil.get_terminal_size()
    console = Console(force_terminal=True, width=width, no_color=not may_colour(), highlight=False)
    console.print(draw(picture, width, height - 2, unix_time(), may_colour()), end="")


def _log(scene: Scene) -> None:
    for _ in scene.polls():
        for event in scene.news():
            click.echo(as_words(event))
    if (end := scene.missing_end(now())) is not None:
        click.echo(as_words(end))


def _pass_on(scene: Scene, polls: Iterable[bool]) -> None:
    for _ in polls:
        for line in scene.lines():
            if is_passed_on(line):
                sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
