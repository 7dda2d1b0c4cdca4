"""`aot dev-cluster`: other machines, on this one, in one command."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from aotloop.app.cluster.dev_cluster import dev_cluster
from aotloop.cli.ui.output import tell
from aotloop.process import blocking_run
from aotloop.process.cancellation import sleep_until_interrupted
from aotloop.process.spec import Ending, ProcessSpec
from aotloop.trust.person import refuse_agents


@click.command(
    "dev-cluster",
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  aot dev-cluster -- aot run           run the loop of this folder on it, then end it
  aot dev-cluster --workers 4          leave it running; Ctrl-C ends it
""",
)
@click.option("--workers", type=click.IntRange(1, 100), default=2, show_default=True, help="How many workers.")
@click.option("--slots", type=click.IntRange(1), default=2, show_default=True, help="Attempts at once, for each.")
@click.option("--folder", metavar="DIR", help="Where it keeps everything; a temporary folder if it is left out.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND]")
@click.pass_context
def command(ctx: click.Context, workers: int, slots: int, folder: str | None, words: tuple[str, ...]) -> None:
    """Start Temporal's development server and some workers on this machine, for trying out attempts on other machines.

    With a command after --, that command uses the cluster, its exit code is the result, and the cluster ends with it.
    """
    refuse_agents("it has no need of a cluster", "Start it in your own terminal.")
    with (
        tempfile.TemporaryDirectory(prefix="aot-cluster-") as made,
        dev_cluster(Path(folder or made).absolute(), workers, slots, lambda line: tell(line, err=True)) as cluster,
    ):
        if words:
            spec = ProcessSpec(
                argv=words,
                env={**os.environ, **cluster.environ},
                stdout="inherit",
                stderr="inherit",
                ending=Ending(grace=10.0, reach="process"),
            )
            done = blocking_run.run(spec)
            ctx.exit(done.status if done.status is not None and done.status >= 0 else 1)
        variables = " ".join(f"{name}={value}" for name, value in cluster.environ.items())
        tell(f"Use it from this folder: {variables} aot run", err=True)
        sleep_until_interrupted()
