"""What is told, and in which order: a project that is red, the plan, the run, what came of it, what next."""

from __future__ import annotations

import sys
import time

import click

from aotloop.cli.demonstration.performing import Performer
from aotloop.cli.output import faint, heading, named, tell

READING = 4
"""Times the pace: how long a person at a terminal has for the plan before it is carried out."""

PLAN = {
    "units, words, card": "have nothing to do with each other: they are done at once, each in its own git worktree.",
    "amounts": "can be had in two ways. Both parts of the first will claim success and be merged, but the check of the"
    " whole will disagree, and it cannot be mended. Then they are taken back, and the second way has its turn.",
    "recipe": "is for an agent. To spare you an API key, ours is a script that stands in for one (hands/apprentice.py)."
    " It will find the atom too big, and propose parts.",
}


def tell_story(performer: Performer) -> None:
    _open(performer)
    _plan(performer)
    _title("3. The run")
    performer.aot("run", "--yes")
    _result(performer)
    _what_next(performer)


def _open(performer: Performer) -> None:
    _title("Twelve people are coming for breakfast, and the recipe is for four")
    tell(f"A loop from its start to its end, with real commands, in {performer.stage.folder}, and nowhere else.")
    _title("1. A project whose tests fail")
    tell("The tests of `kitchen` are written, its code is not. What is to prove the work has to fail before the work:")
    performer.aot("gate", "--yes")


def _plan(performer: Performer) -> None:
    _title("2. The plan")
    performer.aot("graph")
    click.echo()
    _points(PLAN)
    if sys.stdout.isatty():
        time.sleep(READING * performer.pace)


def _result(performer: Performer) -> None:
    _title("4. What came of it")
    performer.python("-m", "kitchen", "pancakes.txt", "12")
    performer.aot("graph")
    performer.git("log", "--oneline", "--graph")
    click.echo()
    tell("Every commit names its atom and run in trailers, those that take something back included:")
    performer.git("log", "--oneline", "--grep", "Aot-Atom: floats_read")


def _what_next(performer: Performer) -> None:
    stage = performer.stage
    _title("What next")
    again = {"aot demo --folder DIR": "does it again, and leaves everything there for you to look around."}
    look = {f"cd {named(str(stage.project))}": "and look around: `aot log`, `git diff .claude`, `ls .aot/attempts`."}
    _points(
        {
            **(look if stage.is_kept else again),
            "aot align": "begins a loop of your own: it asks what is to be achieved, and what proves it.",
            "aot run --dry-run": "shows what that loop would do, before it does anything.",
        }
    )
    if not stage.is_kept:
        click.echo()
        tell("The folder of this demonstration is removed again.", style=faint)


def _title(text: str) -> None:
    click.echo()
    click.echo(heading(text))


def _points(points: dict[str, str]) -> None:
    width = max(map(len, points))
    for what, text in points.items():
        tell(text, head=f"  {heading(what.ljust(width))}  ")
