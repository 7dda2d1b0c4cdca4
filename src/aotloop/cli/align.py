"""`aot align`: what is to be achieved, and when it is, is agreed on before anything is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import click
from msgspec.structs import replace

from aotloop import app
from aotloop.alignment.applying import Written, not_agreeable, write
from aotloop.alignment.draft import Draft
from aotloop.alignment.files import write_draft
from aotloop.alignment.shape import shape_of
from aotloop.cli.aligning.beginning import Beginning, begin
from aotloop.cli.aligning.review import Reviewed, Trial, nobody_agreed
from aotloop.cli.asking import somebody_is_there
from aotloop.cli.consent import accept
from aotloop.cli.foreign import prose, visible
from aotloop.cli.options import AMOUNT, WORDS, json_option, state_file_option, yes_option
from aotloop.cli.output import counted, mark, report_done, shortest, tell
from aotloop.cli.red_first import already_holding
from aotloop.core.limits import EFFORTS
from aotloop.core.model import Constraints, Effort
from aotloop.errors import AotError, StateFileError, StateFileMissing
from aotloop.statefile.locate import find_state_file, new_state_file, project_root
from aotloop.statefile.store import Store

NOT_READY = 3


@click.command(
    "align",
    epilog="""\b
Examples:
  aot align "Users can log in with their e-mail address"
  aot align --from fix_plan.md                 begin from a list you have
  aot align --yes -f objective.yaml            in scripts
  aot align --yes -f objective.yaml --from .taskmaster/tasks/tasks.json
  aot align                                    align an existing loop again
  aot align --effort high                      the same, and try harder
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
@click.option("--tag", type=WORDS, help="Which list of a tasks.json with several.")
@click.option("--agent", metavar="NAME", help="Who leads the dialogue [default: as configured].")
@click.option("--no-agent", is_flag=True, help="Fill in a form instead.")
@click.option("--no-run", is_flag=True, help="Do not run the base case first.")
@click.option("--effort", type=click.Choice(list(EFFORTS)), help="How often is tried [default: normal].")
@click.option("--timeout", type=AMOUNT, default=app.CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
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
    """Agree on what is to be achieved, how a machine sees that it is, and the work it takes; then write the state file.

    On a terminal, an agent looks at the project, asks, and proposes; or a form asks for the same. You edit and agree;
    then the base case is run once, to see what of it already holds; then the file is written. Nothing is written
    before. With --yes, what the files say is agreed on as it is. A loop that exists is aligned again: what was done
    and is still asked for stays, everything else begins anew.
    """
    _refuse_contradictions(prompt, file, source, tag, agent, no_agent=no_agent)
    if not yes and (as_json or not somebody_is_there()):
        raise click.UsageError(
            "There is nobody to agree: --yes with -f FILE agrees to what a file says;"
            " without --json, on a terminal, you are asked."
        )
    store = Store(_place(state_file))
    try:
        beginning = begin(store, prompt=prompt, file=file, source=source, tag=tag)
    except StateFileError as error:  # what there is cannot be aligned again, at least not now
        error.exit_code = NOT_READY
        raise
    if effort is not None:
        constraints = replace(beginning.draft.constraints or Constraints(), effort=effort)
        beginning = replace(beginning, draft=replace(beginning.draft, constraints=constraints))
    _tell_imported(beginning)
    trial = Trial(root=Path(project_root(store.path)), timeout=timeout, wanted=not no_run)
    if yes:
        reviewed = _as_it_is(beginning, trial)
        if not as_json:
            trial.tell(reviewed.report)
    else:
        reviewed = _with_a_person(store, beginning, trial, agent, no_agent=no_agent)
    written = _written(store, reviewed.draft, beginning)
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
        raise click.UsageError("PROMPT and -f both say what is wanted; use one of them")
    if tag is not None and source is None:
        raise click.UsageError("--tag says which list of a file is imported; --from says which file")
    if agent is not None and no_agent:
        raise click.UsageError("--agent and --no-agent contradict each other")


def _place(state_file: str | None) -> str:
    """The loop that is found from here is aligned again; else a new one is made here."""
    try:
        return find_state_file(state_file)
    except StateFileMissing:
        return new_state_file(state_file)


def _as_it_is(beginning: Beginning, trial: Trial) -> Reviewed:
    shape = shape_of(beginning.draft, beginning.before)
    if not shape.gate.ready:
        raise not_agreeable(shape)
    return Reviewed(draft=beginning.draft, report=trial.run(shape))


def _with_a_person(store: Store, beginning: Beginning, trial: Trial, agent: str | None, *, no_agent: bool) -> Reviewed:
    from aotloop.cli.aligning.dialogue import by_form, converse  # noqa: PLC0415 - who is not asked needs no agents
    from aotloop.cli.aligning.hiring import planner_of  # noqa: PLC0415

    try:
        hired = None if no_agent else planner_of(store, agent)
        if hired is None:
            return by_form(beginning, trial)
        return converse(hired.planner, beginning, trial, hired.instructions)
    except EOFError:  # to end the input is to leave
        raise nobody_agreed() from None


def _written(store: Store, draft: Draft, beginning: Beginning) -> Written:
    """What a person took time to agree on is not lost if it cannot be written."""
    try:
        return write(
            store,
            draft,
            before=beginning.before,
            request=beginning.request,
            accept=lambda commands: accept(store, commands),
        )
    except (AotError, OSError):
        click.echo(f"{write_draft(draft)}\n# This was agreed on, and could not be written. Keep it for -f.", err=True)
        raise


# --- what is told ------------------------------------------------------------------------------------------------


def _tell_imported(beginning: Beginning) -> None:
    if beginning.finished:
        tell(f"{counted(beginning.finished, 'piece')} of work done already, and left out", err=True)
    for warning in beginning.warnings:
        tell(prose(warning), head=f"{mark(None)} ", err=True)


def _report(store: Store, written: Written, reviewed: Reviewed, beginning: Beginning, *, as_json: bool) -> None:
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
    report_done(as_json=as_json, data=data, said=_in_words(store, written), steps=["aot gate", "aot run"])


def _in_words(store: Store, written: Written) -> str:
    where = visible(shortest(store.path))
    if written.is_new:
        return f"agreed: {where}, {counted(len(written.atoms), 'atom')}"
    if not written.is_changed:
        return f"{where} says so already; nothing was changed"
    kept = f"; done already: {visible(', '.join(written.kept))}" if written.kept else ""
    undone = f"; no longer counted as done: {visible(', '.join(written.undone))}" if written.undone else ""
    return f"aligned again: {where}, {counted(len(written.atoms), 'atom')}{kept}{undone}"
