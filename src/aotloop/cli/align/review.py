"""Shows a person the whole proposal, lets the person edit it, runs the base case, and asks for agreement."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from aotloop.app.align.draft import Draft
from aotloop.app.align.draft_file import read_draft, write_draft
from aotloop.app.align.shape import Shape, run_base_case, shape_of
from aotloop.checks.results import Report
from aotloop.cli.align.proposal import show
from aotloop.cli.ui.check_results import already_holding, seen, unable_to_run
from aotloop.cli.ui.output import mark, tell
from aotloop.cli.ui.progress_line import progress_line
from aotloop.cli.ui.prompts import agrees, ask
from aotloop.core.checks.checklist import base_case_tree
from aotloop.core.commands import commands_in
from aotloop.core.model import Loop
from aotloop.errors import AotError, StateFileInvalid
from aotloop.statefile.locate import project_root
from aotloop.text.phrases import counted
from aotloop.text.sanitize import prose

AGREE, EDIT, CHANGE, LEAVE = "a", "e", "c", "q"


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """How the base case is run before the person agrees."""

    state_file: str
    timeout: float
    wanted: bool = True

    @property
    def root(self) -> Path:
        return Path(project_root(self.state_file))

    def run(self, shape: Shape) -> Report | None:
        if not self.wanted or not self.root.is_dir():
            return None
        with progress_line() as on_progress:
            return run_base_case(shape, self.state_file, timeout=self.timeout, on_progress=on_progress)

    def announce(self, shape: Shape) -> None:
        """Whose commands run, and where."""
        commands = list(commands_in(base_case_tree(shape.loop.objective.base_case)))
        if commands and self.wanted:
            count = counted(len(commands), "command")
            tell(f"Running {count} of your base case, with your rights, in {prose(str(self.root))}:", err=True)
            for command in commands:
                tell(prose(command), head="  $ ", err=True)

    def tell(self, report: Report | None) -> None:
        tell(seen(report, "its folder does not exist yet" if self.wanted else "as you asked"), err=True)
        for doubt in (*unable_to_run(report), *already_holding(report)):
            tell(prose(doubt), head=f"{mark(None)} ", err=True)


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    draft: Draft
    report: Report | None = None
    wish: str | None = None
    """The change that the person wants; None: the person agreed."""


def review(draft: Draft, before: Loop | None, trial: Trial, *, by_words: bool) -> Reviewed:
    """`by_words`: an agent can apply a change described in words. Raises AotError if the person does not agree."""
    while True:
        shape = shape_of(draft, before)
        show(shape)
        match _choice(by_words=by_words):
            case "a":
                agreed = _agree(shape, draft, trial)
                if agreed is not None:
                    return agreed
            case "e":
                draft = edited(draft) or draft
            case "c":
                wish = ask("What should be different?") if by_words else "again"
                if wish:
                    return Reviewed(draft=draft, wish=wish)
            case _:
                raise not_agreed()


def not_agreed() -> AotError:
    return AotError("nothing was written: you did not agree", hint="Your answers are kept: `aot align` continues.")


def _choice(*, by_words: bool) -> str:
    options = {
        AGREE: "agree: the commands above run now, to see what already holds; later the loop runs them",
        EDIT: "edit it as a file",
        CHANGE: "describe in words what should be different" if by_words else "answer the questions once more",
        LEAVE: "leave without writing anything",
    }
    for letter, meaning in options.items():
        tell(meaning, head=f"  {letter}  ", err=True)
    while (answer := ask("Letter:").lower()[:1]) not in options:
        tell("Type one of these letters.", err=True)
    return answer


def _agree(shape: Shape, draft: Draft, trial: Trial) -> Reviewed | None:
    """None: the person did not agree."""
    if not shape.gate.ready:
        tell(f"Not yet: {prose('; '.join(shape.gate.missing))}", head=f"{mark(False)} ", err=True)
        return None
    trial.announce(shape)
    report = trial.run(shape)
    trial.tell(report)
    if already_holding(report) and not agrees("Agree anyway?"):
        return None
    return Reviewed(draft=draft, report=report)


def edited(draft: Draft) -> Draft | None:
    """None: the person changed nothing, or gave up."""
    text: str | None = write_draft(draft)
    while text is not None:
        try:
            text = click.edit(text, extension=".yaml")
        except click.ClickException as error:  # no editor, or it failed; the answers so far are kept
            tell(prose(error.format_message()), head=f"{mark(False)} ", err=True)
            return None
        if text is None:
            tell("Nothing was changed.", err=True)
            return None
        try:
            return read_draft(text.encode(), "what you wrote")
        except StateFileInvalid as error:
            tell(prose(error.message), head=f"{mark(False)} ", err=True)
        if ask("Edit it again? [Y/n]").lower() in ("n", "no"):
            return None
    return None
