"""`aot confirm`: a person judges the items that no program can judge; then the base case decides."""

from __future__ import annotations

import click

from aotloop.app.confirm import Answers, conclude, judged_items, refuse_rejecting_a_run, remember, verify_with
from aotloop.app.loops import CHECK_TIMEOUT, open_store
from aotloop.app.verify import Verification, subject_of
from aotloop.cli.ui.confirm_dialog import ask_about, complete_item, path_named, tell_end, tell_remembered
from aotloop.cli.ui.consent_dialog import require_consent
from aotloop.cli.ui.judge_offer import recalling
from aotloop.cli.ui.options import AMOUNT, WORDS, json_option, state_file_option, yes_option
from aotloop.cli.ui.output import report_done
from aotloop.cli.ui.progress_line import progress_line
from aotloop.cli.ui.prompts import is_interactive
from aotloop.core.handlers.status import holding_session
from aotloop.core.model import Loop
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from aotloop.trust.person import refuse_agents, refuse_session


@click.command(
    "confirm",
    epilog="""\b
Examples:
  aot confirm                      ask about every waiting item
  aot confirm "API works"          confirm this item
  aot confirm --all --yes --json
  aot confirm --reject "API works" --reason "logging in twice fails"
""",
)
@state_file_option
@json_option
@yes_option
@click.argument("items", metavar="[ITEM…]", nargs=-1, type=WORDS, shell_complete=complete_item)
@click.option("--all", "everything", is_flag=True, help="Confirm every item that needs a person's judgement.")
@click.option(
    "--reject",
    type=WORDS,
    multiple=True,
    metavar="ITEM",
    shell_complete=complete_item,
    help="Reject this item (repeatable); the loop gets an atom to repair it.",
)
@click.option("--reason", type=WORDS, help="What you saw; required with --reject.")
@click.option("--timeout", type=AMOUNT, default=CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
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
    """Confirm or reject items that only a person can judge, and complete the loop if the base case then holds.

    A confirmation counts for this objective and the checked-out commit. Exits with 0 if the loop is completed, or if
    the running loop will use the confirmation; 1 if the base case does not hold; 6 if an item is still undecided.
    """
    refuse_agents("only a person confirms", "Run the command in your own terminal.")
    store = open_store(state_file)
    loop = store.load()
    refuse_session(holding_session(loop.control), "only a person confirms")
    if loop.control.status == "completed":
        report_done(as_json=as_json, data={"status": "completed"}, message="the loop is already completed")
        return
    answers = _in_words(store, loop, items, reject, everything=everything, reason=reason)
    done, is_asked = None, False
    if not answers.is_something:
        done = _verify(store, None, timeout=timeout, yes=yes)
        is_asked = done.report.undecided and not as_json and is_interactive()
        answers = ask_about(store, done) if is_asked else answers
    if answers.is_something:
        refuse_rejecting_a_run(store, answers)
        remember(answers)
        if (runner := holder_of(store.path)) is not None:
            tell_remembered(answers, runner, as_json=as_json)
            return
        done = _verify(store, answers, timeout=timeout, yes=yes)
    if done is not None:
        ctx.exit(tell_end(answers, conclude(store, answers, done), as_json=as_json, is_shown=is_asked))


def _in_words(
    store: Store, loop: Loop, items: tuple[str, ...], reject: tuple[str, ...], *, everything: bool, reason: str | None
) -> Answers:
    """The decisions given on the command line; None if there are none."""
    if reject and reason is None:
        raise click.UsageError("--reject needs --reason: the repair needs to know what is wrong")
    rejected = {path_named(loop, name) for name in reject}
    confirmed = dict.fromkeys(path_named(loop, name) for name in items)
    if both := rejected & set(confirmed):
        raise click.UsageError(f"{', '.join(sorted(both))}: an item cannot be both confirmed and rejected")
    if everything:
        confirmed = dict.fromkeys(path for path in judged_items(loop) if path not in rejected)
    words = reason or "as it should be"
    return Answers(
        about=subject_of(store, loop),
        confirmed=dict.fromkeys(confirmed, words),
        rejected=dict.fromkeys(sorted(rejected), words),
    )


def _verify(store: Store, answers: Answers | None, *, timeout: float, yes: bool) -> Verification:
    permit = require_consent(store, yes=yes)
    with recalling(store) as judges, progress_line() as on_progress:
        return verify_with(store, answers, judges, permit=permit, timeout=timeout, on_progress=on_progress)
