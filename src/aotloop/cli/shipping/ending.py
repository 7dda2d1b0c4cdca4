"""`aot ship stop` and `aot ship cancel`: a feature is interrupted, or given up. Whoever runs it ends at once."""

from __future__ import annotations

import time

import click

from aotloop.cli.foreign import prose
from aotloop.cli.options import WORDS, json_option
from aotloop.cli.output import report_done
from aotloop.cli.shipping.finding import refuse_agents
from aotloop.cli.stop import waiting_line
from aotloop.cli.stopping import LOOK_SECONDS, PATIENCE
from aotloop.core.phases import events
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.filing import now, tell
from aotloop.phases.ground import Ground, ground_at
from aotloop.statefile.lease import Holder, holder_of


@click.command(
    "stop",
    short_help="Stop the feature; nothing is lost.",
    epilog="""\b
Examples:
  aot ship stop
  aot ship stop --reason "the plan has to be discussed first"
""",
)
@json_option
@click.option("--reason", type=WORDS, default="stop requested", help="Why; it is kept.")
def stop(as_json: bool, reason: str) -> None:
    """Stop the feature. What is proven stays so, and `aot ship` goes on from there.

    Works from any terminal: the agent that is at it dies, and the process that runs the loop ends.
    """
    refuse_agents("stops it")
    ground = ground_at()
    _end(ground, events.LoopStopped(at=now(), reason=f"user: {reason}"))
    loop = ground.store.load()
    said = f"stopped in {loop.phase}: {loop.stop_reason}"
    report_done(as_json=as_json, data=_data(loop), said=prose(said), steps=["aot ship", "aot ship status"])


@click.command(
    "cancel",
    short_help="Give the feature up, for good.",
    epilog="""\b
Examples:
  aot ship cancel
  aot ship cancel "nobody needs it any more"
""",
)
@json_option
@click.argument("reason", type=WORDS, default="cancelled")
def cancel(as_json: bool, reason: str) -> None:
    """Give the feature up, for good. What was committed for it stays where it is."""
    refuse_agents("cancels it")
    ground = ground_at()
    _end(ground, events.LoopCancelled(at=now(), reason=f"user: {reason}"))
    loop = ground.store.load()
    report_done(as_json=as_json, data=_data(loop), said=prose(f"given up in {loop.phase}"), steps=["git log"])


def _data(loop: PhaseLoop) -> dict[str, str | None]:
    return {"status": loop.status, "phase": loop.phase, "stop_reason": loop.stop_reason}


def _end(ground: Ground, event: events.PhaseEvent) -> None:
    """Returns when nobody runs it any more; nor anything that a run has left which died."""
    holder = holder_of(ground.store.path)
    loop = tell(ground, event).loop
    if holder is None:
        from aotloop.shipping.abandoned import kill_abandoned  # noqa: PLC0415 - needed after a crash alone

        kill_abandoned(ground, loop)
    began = time.monotonic()
    with waiting_line() as on_wait:
        while holder is not None and _still(ground, holder):
            waited = time.monotonic() - began
            if waited > PATIENCE:
                raise AotError(f"{holder.name} was told to stop, but still runs after {PATIENCE:g} s")
            if on_wait is not None:
                on_wait(holder, waited)
            time.sleep(LOOK_SECONDS)


def _still(ground: Ground, holder: Holder) -> bool:
    present = holder_of(ground.store.path)
    return present is not None and present.pid == holder.pid
