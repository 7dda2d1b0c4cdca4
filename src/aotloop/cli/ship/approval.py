"""`aot ship approve` and `aot ship advance`: decisions that only a person makes."""

from __future__ import annotations

import click

from aotloop.app.ship.approve import approve_tests, leave_phase, refuse_tests
from aotloop.app.ship.cancel import cancel_feature, stop_feature
from aotloop.cli.ship.acceptance_tests import consent_to_tests
from aotloop.cli.ui.options import WORDS, json_option, yes_option
from aotloop.cli.ui.output import report_done
from aotloop.cli.ui.progress_line import waiting_line
from aotloop.core.phases.model import PhaseLoop
from aotloop.phases.receipts import Filed
from aotloop.text.sanitize import prose


@click.command(
    "approve",
    short_help="Agree to the acceptance tests, or refuse them.",
    epilog="""\b
Examples:
  aot ship approve
  aot ship approve --refuse "no test covers the third wrong password"
""",
)
@json_option
@yes_option
@click.option("--refuse", "reason", type=WORDS, metavar="REASON", help="Refuse the tests, for this reason.")
def approve(as_json: bool, yes: bool, reason: str | None) -> None:
    """Agree to the acceptance tests, or refuse them: they decide whether the feature works.

    aot checks them again: they must be unchanged since they were shown, must run, and must fail. After that,
    they must not be changed.
    """
    if reason is not None:
        _report(refuse_tests(reason), as_json=as_json, message="refused; `aot ship` lets an agent write them again")
    else:
        filed = approve_tests(consent_to_tests(yes=yes))
        _report(filed, as_json=as_json, message="approved; from now on they must not be changed")


@click.command(
    "advance",
    short_help="Leave the phase by force; this is recorded.",
    epilog="""\b
Examples:
  aot ship advance --reason "the review is done elsewhere"
""",
)
@json_option
@yes_option
@click.option("--reason", type=WORDS, required=True, help="The reason; it is recorded.")
def advance(as_json: bool, yes: bool, reason: str) -> None:
    """Leave the phase without its receipt. This is recorded, and the phase does not count as completed.

    The acceptance tests and the release cannot be left like this, nor the test phase while tests fail.
    """
    before, filed = leave_phase(reason, consent_to_tests(yes=yes))
    _report(filed, as_json=as_json, message=f"{before} was left by force; this is recorded")


def _report(filed: Filed, *, as_json: bool, message: str) -> None:
    data = {"phase": filed.loop.phase, "status": filed.loop.status}
    report_done(as_json=as_json, data=data, message=message, steps=["aot ship", "aot ship status"])


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
@click.option("--reason", type=WORDS, default="stop requested", help="The reason; it is kept.")
def stop(as_json: bool, reason: str) -> None:
    """Stop the feature. Accepted receipts stay, and `aot ship` continues from there.

    Works from any terminal: the running agent is killed, and the process that runs the loop ends.
    """
    with waiting_line() as on_wait:
        loop = stop_feature(reason, on_wait)
    message = f"stopped in {loop.phase}: {loop.stop_reason}"
    report_done(as_json=as_json, data=_data(loop), message=prose(message), steps=["aot ship", "aot ship status"])


@click.command(
    "cancel",
    short_help="Give up the feature permanently.",
    epilog="""\b
Examples:
  aot ship cancel
  aot ship cancel "no longer needed"
""",
)
@json_option
@click.argument("reason", type=WORDS, default="cancelled")
def cancel(as_json: bool, reason: str) -> None:
    """Give up the feature permanently. Its commits stay where they are."""
    with waiting_line() as on_wait:
        loop = cancel_feature(reason, on_wait)
    report_done(as_json=as_json, data=_data(loop), message=prose(f"given up in {loop.phase}"), steps=["git log"])


def _data(loop: PhaseLoop) -> dict[str, str | None]:
    return {"status": loop.status, "phase": loop.phase, "stop_reason": loop.stop_reason}
