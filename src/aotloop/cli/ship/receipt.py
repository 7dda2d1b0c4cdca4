"""`aot ship receipt` and `aot ship checkpoint`: claims of a session, or of a person who works by hand."""

from __future__ import annotations

import click

from aotloop.app.ship.claim import claim_receipt, note_checkpoint
from aotloop.cli.ship.acceptance_tests import consent_to_tests
from aotloop.cli.ui.options import TEXT, WORDS, json_option, yes_option
from aotloop.cli.ui.output import report_done, tell
from aotloop.core.phases.model import PhaseLoop
from aotloop.text.sanitize import prose


@click.command(
    "receipt",
    short_help="File the receipt of the phase.",
    epilog="""\b
Examples:
  aot ship receipt docs/plans/2026-11-15-login.md --summary "three steps, cookies instead of tokens"
  aot ship receipt src/login.py --failed "a middleware: it runs after the router"
  aot ship receipt CHANGELOG.md --pr-url https://example.org/pull/7
""",
)
@json_option
@yes_option
@click.argument("artifact", type=WORDS)
@click.option("--sha", type=WORDS, help="The commit that contains it [default: the checked-out commit].")
@click.option("--summary", type=TEXT, default="", help="What was done; later phases read it.")
@click.option("--failed", type=WORDS, multiple=True, metavar="TEXT", help="What did not work (repeatable).")
@click.option("--pr-url", type=WORDS, metavar="URL", help="The pull request that the work is in.")
@click.option("--branch", type=WORDS, metavar="NAME", help="The branch that the work is on.")
def receipt(
    as_json: bool,
    yes: bool,
    artifact: str,
    sha: str | None,
    summary: str,
    failed: tuple[str, ...],
    pr_url: str | None,
    branch: str | None,
) -> None:
    """File the receipt of the present phase: ARTIFACT is the committed file that the phase produced.

    aot verifies it. If it counts, the next phase begins. Otherwise aot says what is missing and exits with 1.
    """
    phase, loop, next_step = claim_receipt(
        artifact,
        consent_to_tests(yes=yes),
        sha=sha,
        summary=summary,
        failed=failed,
        branch=branch,
        pr_url=pr_url,
    )
    _report(loop, next_step, as_json=as_json, message=f"the receipt of {phase} counts")


def _report(loop: PhaseLoop, next_step: str, *, as_json: bool, message: str) -> None:
    """`next_step`: what to do next."""
    data = {"phase": loop.phase, "status": loop.status, "said": next_step}
    steps = ["aot ship approve" if loop.status == "waiting" else "aot ship", "aot ship status"]
    report_done(as_json=as_json, data=data, message=prose(message), steps=() if as_json else steps)
    for line in [] if as_json else next_step.splitlines():
        tell(prose(line))


@click.command(
    "checkpoint",
    short_help="Record the state of the phase.",
    epilog="""\b
Examples:
  aot ship checkpoint --summary "sessions work; logging out is missing"
  aot ship checkpoint --summary "half way" --failed "storing them in memory: lost at each restart"
""",
)
@json_option
@click.option("--summary", type=WORDS, required=True, help="The state of the work.")
@click.option("--failed", type=WORDS, multiple=True, metavar="TEXT", help="What did not work (repeatable).")
def checkpoint(as_json: bool, summary: str, failed: tuple[str, ...]) -> None:
    """Record the state of the phase, for a later agent or person who continues it."""
    loop = note_checkpoint(summary, failed)
    data = {"phase": loop.phase, "checkpoints": len(loop.checkpoints)}
    report_done(as_json=as_json, data=data, message=f"recorded the state of {loop.phase}", steps=["aot ship status"])
