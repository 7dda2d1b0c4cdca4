"""`aot demo`: it runs a whole loop in a folder of its own and changes no file of the user."""

from __future__ import annotations

from pathlib import Path

import click

from aotloop.cli.demo.performer import Performer
from aotloop.cli.demo.stage import furnish, stage
from aotloop.cli.demo.story import tell_story

PACE = 1.0
FAST = 0.1


@click.command(
    "demo",
    epilog="""\b
Examples:
  aot demo                     takes about 15 seconds
  aot demo --folder pancakes   keep the folder and explore it
""",
)
@click.option("--keep", is_flag=True, help="Keep the folder.")
@click.option("--folder", type=click.Path(path_type=Path), metavar="DIR", help="Use this folder and keep it.")
@click.option("--fast", is_flag=True, envvar="AOT_DEMO_FAST", help="Without the pauses for watching.")
@click.option("--plain", is_flag=True, help="A log instead of a picture, and no colours.")
@click.pass_context
def command(ctx: click.Context, /, keep: bool, folder: Path | None, fast: bool, plain: bool) -> None:
    """Watch a loop at work: parallel atoms, an alternative that fails and is reverted, an atom that is split.

    The demo makes a small project in a temporary folder, with its own home, and runs `aot` there. It needs no API key:
    commands do the work, and a script replaces the agent. The exit code is that of its `aot run`.
    """
    if plain:
        ctx.color = False
    with stage(folder, keep=keep) as place:
        furnish(place)
        tell_story(Performer(place, pace=FAST if fast else PACE, is_plain=plain))
