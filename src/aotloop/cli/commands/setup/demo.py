"""`aot demo`: it runs a whole loop in a folder of its own and changes no file of the user."""

from __future__ import annotations

from pathlib import Path

import click

from aotloop.cli.demo.model_demo import show_model
from aotloop.cli.demo.shown_commands import Performer
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
  aot demo --model             a real model does the work, in two minutes
  aot demo --model http://127.0.0.1:11434/v1
""",
)
@click.option("--keep", is_flag=True, help="Keep the folder.")
@click.option("--folder", type=click.Path(path_type=Path), metavar="DIR", help="Use this folder and keep it.")
@click.option("--fast", is_flag=True, envvar="AOT_DEMO_FAST", help="Without the pauses for watching.")
@click.option("--plain", is_flag=True, help="A log instead of a picture, and no colours.")
@click.option(
    "--model",
    metavar="[URL]",
    is_flag=False,
    flag_value="",
    help="With a real model: at an OpenAI-compatible URL, or a small one on this machine (130 MB, asked first).",
)
@click.option("--yes", is_flag=True, help="With --model: install what is missing without asking.")
@click.pass_context
def command(
    ctx: click.Context, /, keep: bool, folder: Path | None, fast: bool, plain: bool, model: str | None, yes: bool
) -> None:
    """Watch a loop at work: parallel atoms, an alternative that fails and is reverted, an atom that is split.

    The demo makes a small project in a temporary folder, with its own home, and runs `aot` there. It needs no API key:
    commands do the work, and a script replaces the agent. The exit code is that of its `aot run`.
    """
    if plain:
        ctx.color = False
    if model is not None:
        ctx.exit(show_model(model, folder, keep=keep, plain=plain, yes=yes))
    with stage(folder, keep=keep) as place:
        furnish(place)
        tell_story(Performer(place, pace=FAST if fast else PACE, is_plain=plain))
