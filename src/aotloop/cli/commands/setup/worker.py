"""`aot worker`: it makes attempts for loops on other machines."""

from __future__ import annotations

import click

from aotloop.app.cluster.worker import Wishes, start_worker, worker_findings
from aotloop.cli.ui.options import json_option
from aotloop.cli.ui.output import mark, say_json, tell
from aotloop.config.remote_settings import NO_TIME
from aotloop.core.limits import seconds
from aotloop.trust.person import refuse_agents


@click.command(
    "worker",
    epilog="""\b
Examples:
  aot worker --slots 8                     take orders of the queue `aot`
  aot worker --queue gpu --home /data/aot  another queue, another folder
  aot worker --doctor                      look whether it could work here
""",
)
@click.option("--queue", metavar="NAME", help="The queue to take orders from.")
@click.option("--slots", type=click.IntRange(1), help="The most attempts at the same time.")
@click.option("--home", metavar="DIR", help="The folder for mirrors, worktrees and undelivered results.")
@click.option("--drain", metavar="TIME", help="How long running attempts may go on after SIGTERM, for example 10m.")
@click.option("--doctor", is_flag=True, help="Look for problems, and start nothing.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    queue: str | None,
    slots: int | None,
    home: str | None,
    drain: str | None,
    doctor: bool,
    as_json: bool,
) -> None:
    """Make attempts for loops on other machines, until SIGTERM. Temporal brings the orders.

    A worker accepts only repositories and agents that [worker] in ~/.config/aotloop/config.toml names.
    """
    refuse_agents("it has no need of a worker", "Start it in your own terminal.")
    wishes = Wishes(queue=queue, slots=slots, home=home, drain=_seconds(drain))
    if not doctor:
        start_worker(wishes, lambda line: click.echo(line, err=True))
        return
    found = list(worker_findings(wishes))
    if as_json:
        say_json({"ok": all(finding.ok for finding in found), "findings": found})
    for finding in () if as_json else found:
        tell(f"{finding.subject}: {finding.result}", head=f"  {mark(finding.ok)} ")
    ctx.exit(0 if all(finding.ok for finding in found) else 1)


def _seconds(text: str | None) -> float | None:
    if text is None or text.strip() in NO_TIME:
        return None if text is None else 0.0
    try:
        return seconds(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a length of time; write for example 10m", param_hint="--drain"
        ) from None
