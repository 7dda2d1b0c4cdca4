"""The texts and the order of the demonstration: a failing project, the plan, the run, the result, the next step."""

from __future__ import annotations

import sys
import time

import click

from aotloop.cli.demo.shown_commands import Performer
from aotloop.cli.ui.output import faint, heading, named, tell

READING = 4
"""Multiplied by the pace: the time in which a person at a terminal can read the plan."""

PLAN = {
    "units, words, card": "do not depend on each other: they are done in parallel, each in its own git worktree.",
    "amounts": "has two alternatives. Both parts of the first will claim success and be merged, but the check of the"
    " whole will fail, and it cannot be repaired. Then they are reverted, and the second alternative is tried.",
    "recipe": "is for an agent. You need no API key here: a script replaces the agent (hands/apprentice.py)."
    " It will find the atom too big and propose parts.",
}


def tell_story(performer: Performer) -> None:
    _open(performer)
    _plan(performer)
    title("3. The run")
    performer.aot("run", "--yes")
    _result(performer)
    _what_next(performer)


def _open(performer: Performer) -> None:
    title("Twelve people are coming for breakfast, and the recipe is for four")
    tell(f"This is a whole loop with real commands. It changes files only in {performer.stage.folder}.")
    title("1. A project whose tests fail")
    tell("The tests of `kitchen` are written, its code is not. The tests must fail before the work begins:")
    performer.aot("gate", "--yes")


def _plan(performer: Performer) -> None:
    title("2. The plan")
    performer.aot("graph")
    click.echo()
    points(PLAN)
    if sys.stdout.isatty():
        time.sleep(READING * performer.pace)


def _result(performer: Performer) -> None:
    title("4. The result")
    performer.python("-m", "kitchen", "pancakes.txt", "12")
    performer.aot("graph")
    performer.git("log", "--oneline", "--graph")
    click.echo()
    tell("Every commit names its atom and its run in trailers, and so does every revert:")
    performer.git("log", "--oneline", "--grep", "Aot-Atom: floats_read")


def _what_next(performer: Performer) -> None:
    stage = performer.stage
    title("Next steps")
    again = {"aot demo --folder DIR": "runs the demo again and keeps the folder, so that you can explore it."}
    look = {f"cd {named(str(stage.project))}": "to explore it: `aot log`, `git diff .claude`, `ls .aot/attempts`."}
    points(
        {
            **(look if stage.is_kept else again),
            "aot align": "begins your own loop: it asks what you want to achieve, and what proves it.",
            "aot run --dry-run": "shows the plan of that loop before it does anything.",
        }
    )
    if not stage.is_kept:
        click.echo()
        tell("The folder of this demonstration is removed now.", style=faint)


def title(text: str) -> None:
    click.echo()
    click.echo(heading(text))


def points(points: dict[str, str]) -> None:
    width = max(map(len, points))
    for what, text in points.items():
        tell(text, head=f"  {heading(what.ljust(width))}  ")
