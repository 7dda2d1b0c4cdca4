"""`aot demo`: a loop from its start to its end, in a folder made for the purpose. Nothing of the user's is touched."""

from __future__ import annotations

from pathlib import Path

import click

from aotloop.cli.demonstration.performing import Performer
from aotloop.cli.demonstration.project import furnish
from aotloop.cli.demonstration.stage import stage
from aotloop.cli.demonstration.story import tell_story

PACE = 1.0
FAST = 0.1


@click.command(
    "demo",
    epilog="""\b
Examples:
  aot demo                     a quarter of a minute, worth watching
  aot demo --folder pancakes   and look around afterwards
""",
)
@click.option("--keep", is_flag=True, help="Leave the folder where it is.")
@click.option("--folder", type=click.Path(path_type=Path), metavar="DIR", help="Do it there, and leave it there.")
@click.option("--fast", is_flag=True, envvar="AOT_DEMO_FAST", help="Without the pauses that let one watch.")
@click.option("--plain", is_flag=True, help="A log instead of a picture, and no colours.")
@click.pass_context
def command(ctx: click.Context, /, keep: bool, folder: Path | None, fast: bool, plain: bool) -> None:
    """Watch a loop at work: atoms done at once, an alternative that fails and is taken back, an atom that is split.

    It makes a small project in a temporary folder, with a home of its own, and runs `aot` there as you would. No API
    key is needed: commands do the work, and a script stands in for the agent. The exit code is that of its `aot run`.
    """
    if plain:
        ctx.color = False
    with stage(folder, keep=keep) as place:
        furnish(place)
        tell_story(Performer(place, pace=FAST if fast else PACE, is_plain=plain))
