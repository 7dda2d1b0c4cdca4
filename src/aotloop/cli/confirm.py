"""`aot confirm`: what only a person can judge is judged by one; then the base case decides."""

from __future__ import annotations

import os

import click

from aotloop import app
from aotloop.cli.asking import somebody_is_there
from aotloop.cli.confirming.conclusions import Said, conclude, judge_by, refuse_rejecting_a_run, remember
from aotloop.cli.confirming.items import complete_item, judged_items, path_named
from aotloop.cli.confirming.talking import ask_about, tell_end, tell_remembered
from aotloop.cli.consent import require_consent
from aotloop.cli.judging import recalling
from aotloop.cli.options import AMOUNT, WORDS, json_option, state_file_option, yes_option
from aotloop.cli.output import report_done
from aotloop.cli.progress import progress_line
from aotloop.core.model import Loop
from aotloop.errors import NotTrusted, Unavailable
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store


def _refuse_agents() -> None:
    if os.environ.get("AOT_RUN_ID"):
        raise NotTrusted(
            "this is an attempt of a loop, and only a person confirms", hint="Run it from a terminal of your own."
        )


@click.command(
    "confirm",
    epilog="""\b
Examples:
  aot confirm                      ask about everything that waits
  aot confirm "API works"          this item is as it should be
  aot confirm --all --yes --json
  aot confirm --reject "API works" --reason "logging in twice fails"
""",
)
@state_file_option
@json_option
@yes_option
@click.argument("items", metavar="[ITEM…]", nargs=-1, type=WORDS, shell_complete=complete_item)
@click.option("--all", "everything", is_flag=True, help="Confirm every item that only a person can judge.")
@click.option(
    "--reject",
    type=WORDS,
    multiple=True,
    metavar="ITEM",
    shell_complete=complete_item,
    help="This item is not as it should be (repeatable); that becomes work.",
)
@click.option("--reason", type=WORDS, help="What you have seen; needed with --reject.")
@click.option("--timeout", type=AMOUNT, default=app.CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
@click.pass_context
def command(
    ctx: click.Context,
    state_file: str | None,
    as_json: bool,
    yes: bool,
    items: tuple[str, ...],
    everything: bool,
    reject: tuple[str, ...],
    reason: str | None,
    timeout: float,
) -> None:
    """Confirm or reject what only a person can judge, and complete the loop if the base case holds then.

    A confirmation counts for this objective at the commit that is checked out. Exits with 0 if the loop is completed,
    or the confirmation is kept for whoever runs it; 1 if the base case does not hold; 6 if something still waits.
    """
    _refuse_agents()
    store = app.open_store(state_file)
    loop = store.load()
    if loop.control.status == "completed":
        report_done(as_json=as_json, data={"status": "completed"}, said="the loop is completed already")
        return
    said = _in_words(store, loop, items, reject, everything=everything, reason=reason)
    done, is_asked = None, False
    if not said.is_something:
        done = _verify(store, None, timeout=timeout, yes=yes)
        is_asked = done.report.undecided and not as_json and somebody_is_there()
        said = ask_about(store, done) if is_asked else said
    if said.is_something:
        refuse_rejecting_a_run(store, said)
        remember(said)
        if (runner := holder_of(store.path)) is not None:
            tell_remembered(said, runner, as_json=as_json)
            return
        done = _verify(store, said, timeout=timeout, yes=yes)
    if done is not None:
        ctx.exit(tell_end(said, conclude(store, said, done), as_json=as_json, is_shown=is_asked))


def _in_words(
    store: Store, loop: Loop, items: tuple[str, ...], reject: tuple[str, ...], *, everything: bool, reason: str | None
) -> Said:
    """What the words of the command say; nothing, if there are none."""
    if reject and reason is None:
        raise click.UsageError("--reject needs --reason: whoever mends it has to know what is wrong")
    rejected = {path_named(loop, name) for name in reject}
    confirmed = dict.fromkeys(path_named(loop, name) for name in items)
    if both := rejected & set(confirmed):
        raise click.UsageError(f"{', '.join(sorted(both))}: it cannot be confirmed and rejected")
    if everything:
        confirmed = dict.fromkeys(path for path in judged_items(loop) if path not in rejected)
    words = reason or "as it should be"
    return Said(
        about=app.subject_of(store, loop),
        confirmed=dict.fromkeys(confirmed, words),
        rejected=dict.fromkeys(sorted(rejected), words),
    )


def _verify(store: Store, said: Said | None, *, timeout: float, yes: bool) -> app.Verification:
    """Recorded, unless somebody runs the loop, who keeps the verdicts."""
    permit = require_consent(store, yes=yes)
    is_recorded = holder_of(store.path) is None
    with recalling(store) as judges, progress_line() as on_progress:
        judge = judge_by(said, judges) if said is not None else lambda subject: app.remembered(subject, judges(subject))
        done = app.verify(
            store, timeout=timeout, on_progress=on_progress, record=is_recorded, permit=permit, judge=judge
        )
    if done.unrecorded is not None:
        raise Unavailable(f"the verdict could not be recorded: {done.unrecorded}")
    return done
