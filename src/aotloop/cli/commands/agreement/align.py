"""`aot align`: a person agrees on the objective and its checks before any work begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import click
from msgspec.structs import replace

from aotloop.app.align.agreed_file import Written, agreeable, write
from aotloop.app.align.draft import Draft, over
from aotloop.app.align.draft_file import write_draft
from aotloop.app.align.shape import shape_of
from aotloop.app.align.starting_point import StartingPoint, place_of
from aotloop.app.align.unfinished import Unfinished, forget, recall, remember
from aotloop.app.loops import CHECK_TIMEOUT
from aotloop.app.preflight.consent import accept
from aotloop.app.preflight.protected_files import protecting_nothing
from aotloop.cli.align.plan_sources import begin
from aotloop.cli.align.review import Reviewed, Trial, not_agreed
from aotloop.cli.ui.check_results import already_holding
from aotloop.cli.ui.consent_dialog import tell_unkept
from aotloop.cli.ui.options import AMOUNT, WORDS, json_option, state_file_option, yes_option
from aotloop.cli.ui.output import mark, report_done, shortest, tell
from aotloop.cli.ui.prompts import ask, is_interactive
from aotloop.core.limits import EFFORTS
from aotloop.core.model import Constraints, Effort
from aotloop.errors import AotError, StateFileError
from aotloop.exit_codes import NOT_READY
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.phrases import counted
from aotloop.text.sanitize import prose, visible


@click.command(
    "align",
    epilog="""\b
Examples:
  aot align "Users can log in with their e-mail address"
  aot align --from fix_plan.md                 begin from an existing list
  aot align --yes -f objective.yaml            in scripts
  aot align --yes -f objective.yaml --from .taskmaster/tasks/tasks.json
  aot align                                    align an existing loop again
  aot align --effort high                      the same, with more attempts
""",
)
@state_file_option
@json_option
@yes_option
@click.argument("prompt", required=False, type=WORDS)
@click.option(
    "-f", "--file", type=click.File("rb"), metavar="FILE", help="The objective, as YAML or JSON; .md or .txt: in words."
)
@click.option(
    "--from",
    "source",
    type=click.File("rb"),
    metavar="FILE",
    help="Work to import: a Markdown list, prd.json, task-master's tasks.json.",
)
@click.option("--tag", type=WORDS, help="The list to import, if tasks.json has several.")
@click.option("--agent", metavar="NAME", help="The agent that leads the dialogue [default: as configured].")
@click.option("--no-agent", is_flag=True, help="Use a form instead of an agent.")
@click.option("--no-run", is_flag=True, help="Do not run the base case first.")
@click.option("--effort", type=click.Choice(list(EFFORTS)), help="How many attempts are made [default: normal].")
@click.option("--timeout", type=AMOUNT, default=CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
def command(
    state_file: str | None,
    as_json: bool,
    yes: bool,
    prompt: str | None,
    file: BinaryIO | None,
    source: BinaryIO | None,
    tag: str | None,
    agent: str | None,
    no_agent: bool,
    no_run: bool,
    effort: Effort | None,
    timeout: float,
) -> None:
    """Agree on the objective, on the checks that prove it, and on the work; then write the state file.

    On a terminal, an agent looks at the project, asks questions and proposes; or a form asks the same questions. You
    edit and agree. Then aot runs the base case once, to see what already holds, and writes the file. It writes nothing
    before that. With --yes, aot agrees to the files as they are. An existing loop is aligned again: finished work that
    is still needed stays, everything else begins again.
    """
    _refuse_contradictions(prompt, file, source, tag, agent, no_agent=no_agent)
    if not yes and (as_json or not is_interactive()):
        raise click.UsageError(
            "No person can be asked to agree. Use --yes with -f FILE to agree to a file;"
            " or run it on a terminal without --json, and answer there."
        )
    store = Store(place_of(state_file))
    try:
        beginning = begin(store, prompt=prompt, file=file, source=source, tag=tag)
    except StateFileError as error:  # the existing loop cannot be aligned again now
        error.exit_code = NOT_READY
        raise
    if effort is not None:
        constraints = replace(beginning.draft.constraints or Constraints(), effort=effort)
        beginning = replace(beginning, draft=replace(beginning.draft, constraints=constraints))
    beginning = _with_doubts(store, beginning)
    _tell_imported(beginning)
    trial = Trial(state_file=store.path, timeout=timeout, wanted=not no_run)
    if not (yes or prompt or file or source):
        beginning = _continued(store, beginning)
    if yes:
        reviewed = _as_it_is(beginning, trial)
        if not as_json:
            trial.tell(reviewed.report)
    else:
        reviewed = _with_a_person(store, beginning, trial, agent, no_agent=no_agent)
    written = _written(store, reviewed.draft, beginning)
    forget(store)
    _report(store, written, reviewed, beginning, as_json=as_json)


def _refuse_contradictions(
    prompt: str | None,
    file: BinaryIO | None,
    source: BinaryIO | None,
    tag: str | None,
    agent: str | None,
    *,
    no_agent: bool,
) -> None:
    if prompt is not None and file is not None:
        raise click.UsageError("PROMPT and -f both give the objective; use only one of them")
    if tag is not None and source is None:
        raise click.UsageError("--tag chooses a list of an imported file; add --from to name the file")
    if agent is not None and no_agent:
        raise click.UsageError("--agent and --no-agent contradict each other")


def _with_doubts(store: Store, beginning: StartingPoint) -> StartingPoint:
    doubts = protecting_nothing(beginning.draft.protect or (), Path(project_root(store.path)))
    return replace(beginning, warnings=(*beginning.warnings, *doubts))


def _as_it_is(beginning: StartingPoint, trial: Trial) -> Reviewed:
    shape = agreeable(shape_of(beginning.draft, beginning.before))
    return Reviewed(draft=beginning.draft, report=trial.run(shape))


def _with_a_person(
    store: Store, beginning: StartingPoint, trial: Trial, agent: str | None, *, no_agent: bool
) -> Reviewed:
    from aotloop.cli.align.interview import by_form, converse  # noqa: PLC0415 - without questions, no agents are needed
    from aotloop.cli.align.planner_choice import planner_of  # noqa: PLC0415

    try:
        hired = None if no_agent else planner_of(store, agent)
        if hired is None:
            return by_form(
                beginning, trial, lambda draft: remember(store, Unfinished(draft=draft, request=beginning.request))
            )
        return converse(
            hired.planner,
            beginning,
            trial,
            hired.instructions,
            lambda draft, talk: remember(store, Unfinished(draft=draft, request=talk.request, answers=talk.answers)),
        )
    except EOFError:  # the end of the input means: leave
        raise not_agreed() from None
    except KeyboardInterrupt:
        if recall(store) is not None:
            tell("Your answers are kept: `aot align` continues.", err=True)
        raise


def _continued(store: Store, beginning: StartingPoint) -> StartingPoint:
    """With what the person began before, if the person likes."""
    unfinished = recall(store)
    if unfinished is None:
        return beginning
    tell(f"You began to align this loop at {unfinished.at} and did not finish.", err=True)
    try:
        answer = ask("Continue with that draft? [Y/n]")
    except EOFError:
        raise not_agreed() from None
    if answer.lower() in ("n", "no"):
        forget(store)
        return beginning
    draft = over(beginning.draft, unfinished.draft)
    return replace(beginning, draft=draft, request=unfinished.request, answers=unfinished.answers)


def _written(store: Store, draft: Draft, beginning: StartingPoint) -> Written:
    """What a person took time to agree on is not lost if it cannot be written."""
    try:
        return write(
            store,
            draft,
            before=beginning.before,
            request=beginning.request,
            accept=lambda commands: accept(store.path, commands, tell_unkept),
        )
    except (AotError, OSError):
        click.echo(f"{write_draft(draft)}\n# You agreed to this, but it could not be saved. Keep it for -f.", err=True)
        raise


# --- messages ----------------------------------------------------------------------------------------------------


def _tell_imported(beginning: StartingPoint) -> None:
    if beginning.finished:
        tell(f"{counted(beginning.finished, 'piece')} of finished work left out", err=True)
    for warning in beginning.warnings:
        tell(prose(warning), head=f"{mark(None)} ", err=True)


def _report(store: Store, written: Written, reviewed: Reviewed, beginning: StartingPoint, *, as_json: bool) -> None:
    data: dict[str, Any] = {
        "state_file": store.path,
        "new": written.is_new,
        "changed": written.is_changed,
        "atoms": list(written.atoms),
        "kept": list(written.kept),
        "undone": list(written.undone),
        "base_case": reviewed.report.as_data() if reviewed.report is not None else None,
        "already_holding": already_holding(reviewed.report),
        "left_out": beginning.finished,
        "warnings": list(beginning.warnings),
    }
    report_done(as_json=as_json, data=data, message=_in_words(store, written), steps=["aot gate", "aot run"])


def _in_words(store: Store, written: Written) -> str:
    where = visible(shortest(store.path))
    if written.is_new:
        return f"agreed: {where}, {counted(len(written.atoms), 'atom')}"
    if not written.is_changed:
        return f"{where} is already like this; nothing was changed"
    kept = f"; done already: {visible(', '.join(written.kept))}" if written.kept else ""
    undone = f"; no longer counted as done: {visible(', '.join(written.undone))}" if written.undone else ""
    return f"aligned again: {where}, {counted(len(written.atoms), 'atom')}{kept}{undone}"
