"""`aot ship approve` and `aot ship advance`: what only a person decides."""

from __future__ import annotations

import click

from aotloop.cli.options import WORDS, json_option, yes_option
from aotloop.cli.output import report_done
from aotloop.cli.shipping.consent import require_tests_consent
from aotloop.cli.shipping.finding import ground_here, refuse_agents, refuse_while_run
from aotloop.errors import NotVerified
from aotloop.phases.filing import Filed, force, refuse
from aotloop.phases.filing import approve as give_approval
from aotloop.phases.ground import Ground


@click.command(
    "approve",
    short_help="Agree to the acceptance tests, or refuse them.",
    epilog="""\b
Examples:
  aot ship approve
  aot ship approve --refuse "nobody tests what happens after the third wrong password"
""",
)
@json_option
@yes_option
@click.option("--refuse", "reason", type=WORDS, metavar="REASON", help="They are not right, for this reason.")
def approve(as_json: bool, yes: bool, reason: str | None) -> None:
    """Agree to the acceptance tests, or refuse them: they are what decides whether the feature works.

    They are looked at once more: they have to be as they were shown, to run, and to fail. From then on nobody may
    change them.
    """
    refuse_agents("approves")
    ground = ground_here()
    refuse_while_run(ground)
    if reason is not None:
        _report(refuse(ground, reason), as_json=as_json, said="refused; `aot ship` has them written anew")
    else:
        if ground.store.load().status == "waiting":  # a repository can bring such a loop along
            require_tests_consent(ground.store.path, ground.settings, yes=yes)
        _report(_approved(ground), as_json=as_json, said="approved; from now on nobody may change them")


def _approved(ground: Ground) -> Filed:
    filed = give_approval(ground)
    if filed.reasons:
        raise NotVerified(
            f"these tests cannot be agreed to: {'; '.join(filed.reasons)}",
            hint="`aot ship` goes on: they are written anew.",
        )
    return filed


@click.command(
    "advance",
    short_help="Leave the phase by force, on record.",
    epilog="""\b
Examples:
  aot ship advance --reason "the review is done elsewhere"
""",
)
@json_option
@yes_option
@click.option("--reason", type=WORDS, required=True, help="Why; it stays on record.")
def advance(as_json: bool, yes: bool, reason: str) -> None:
    """Leave the phase as it is, without its receipt. It is on record, and the phase does not count as completed.

    Nobody leaves the acceptance tests or the release like this, nor the test phase while they fail.
    """
    refuse_agents("leaves a phase by force")
    ground = ground_here()
    refuse_while_run(ground)
    before = ground.store.load().phase
    if before == "test":
        require_tests_consent(ground.store.path, ground.settings, yes=yes)
    _report(force(ground, reason), as_json=as_json, said=f"{before} is left by force, on record")


def _report(filed: Filed, *, as_json: bool, said: str) -> None:
    data = {"phase": filed.loop.phase, "status": filed.loop.status}
    report_done(as_json=as_json, data=data, said=said, steps=["aot ship", "aot ship status"])
