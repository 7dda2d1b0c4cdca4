"""`aot ship receipt` and `aot ship checkpoint`: what whoever works by hand, or in a session, claims and remembers."""

from __future__ import annotations

import os

import click

from aotloop.cli.foreign import prose
from aotloop.cli.options import TEXT, WORDS, json_option, yes_option
from aotloop.cli.output import report_done, tell
from aotloop.cli.shipping.consent import require_tests_consent
from aotloop.cli.shipping.finding import ground_here, refuse_while_run
from aotloop.errors import NotTrusted, NotVerified
from aotloop.phases.filing import Filed, file_receipt, write_checkpoint
from aotloop.phases.ground import Ground
from aotloop.phases.looking import needs_tests
from aotloop.phases.telling import said_after


def _refuse_attempts() -> None:
    if os.environ.get("AOT_RUN_ID"):
        raise NotTrusted(
            "this is an attempt of a loop: what it leaves in its folder is committed and filed for it",
            hint="Answer as you were asked to, with the path of what you made.",
        )


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
@click.option("--sha", type=WORDS, help="The commit that holds it [default: what is checked out].")
@click.option("--summary", type=TEXT, default="", help="What was done; kept for whoever comes next.")
@click.option("--failed", type=WORDS, multiple=True, metavar="TEXT", help="What was tried in vain (repeatable).")
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
    """File the receipt of the phase the feature is in: ARTIFACT is what it produced, committed.

    It is looked into; if it verifies, the next phase begins. Otherwise it says what is missing, and exits with 1.
    """
    _refuse_attempts()
    ground = ground_here()
    refuse_while_run(ground)
    before = ground.store.load().phase
    if needs_tests(before):
        require_tests_consent(ground.store.path, ground.settings, yes=yes)
    filed = file_receipt(
        ground,
        artifact=artifact,
        sha=sha,
        session=ground.store.load().session_id,
        summary=summary,
        failed=failed,
        branch=branch,
        pr_url=pr_url,
    )
    if filed.reasons:
        raise NotVerified(
            f"the receipt of {before} does not count: {'; '.join(filed.reasons)}",
            hint="Mend it, commit, file it again.",
        )
    report_filed(ground, filed, as_json=as_json, said=f"the receipt of {before} counts")


def report_filed(ground: Ground, filed: Filed, *, as_json: bool, said: str) -> None:
    """With what is to be done next, in the words for whoever does it."""
    loop = filed.loop
    told = said_after(filed.effects, loop, ground.settings)
    data = {"phase": loop.phase, "status": loop.status, "said": told}
    steps = ["aot ship approve" if loop.status == "waiting" else "aot ship", "aot ship status"]
    report_done(as_json=as_json, data=data, said=prose(said), steps=() if as_json else steps)
    for line in [] if as_json else told.splitlines():
        tell(prose(line))


@click.command(
    "checkpoint",
    short_help="Write down where the phase stands.",
    epilog="""\b
Examples:
  aot ship checkpoint --summary "sessions work; logging out is missing"
  aot ship checkpoint --summary "half way" --failed "storing them in memory: lost at each restart"
""",
)
@json_option
@click.option("--summary", type=WORDS, required=True, help="Where it stands.")
@click.option("--failed", type=WORDS, multiple=True, metavar="TEXT", help="What was tried in vain (repeatable).")
def checkpoint(as_json: bool, summary: str, failed: tuple[str, ...]) -> None:
    """Write down where the phase stands, for whoever has to go on without having been there."""
    _refuse_attempts()
    ground = ground_here()
    loop = write_checkpoint(ground, summary, failed, ground.store.load().session_id).loop
    data = {"phase": loop.phase, "checkpoints": len(loop.checkpoints)}
    report_done(as_json=as_json, data=data, said=f"written down, of {loop.phase}", steps=["aot ship status"])
