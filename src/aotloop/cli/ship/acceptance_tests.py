"""Shows the acceptance tests to a person at the terminal, and asks for approval."""

from __future__ import annotations

from aotloop.app.ship.approve import Consent
from aotloop.app.ship.test_consent import commands_for_tests
from aotloop.cli.ui.consent_dialog import require_acceptance
from aotloop.cli.ui.output import tell
from aotloop.cli.ui.prompts import ask, is_interactive
from aotloop.core.phases.model import PhaseLoop, ShipSettings
from aotloop.errors import AotError
from aotloop.phases.evidence.test_command import command_for
from aotloop.phases.project import Project
from aotloop.phases.receipts import approve, refuse
from aotloop.text.sanitize import prose, visible


def can_ask(*, as_json: bool) -> bool:
    return not as_json and is_interactive()


def ask_about_tests(project: Project, loop: PhaseLoop) -> bool:
    """Returns whether there was an answer; the loop has recorded it by then."""
    file = loop.artifacts.acceptance_tests_file or ""
    tell(f"The acceptance tests are written: {visible(file)}", err=True)
    tell(f"The command that runs them: {visible(_command(project, file))}", err=True)
    tell("Read them. They decide whether the feature works; after approval they must not be changed.", err=True)
    while True:
        try:
            answer = ask("approve, refuse, or later? [a/r/L]").lower()
        except EOFError:
            return False
        if answer in ("", "l", "later"):
            return False
        if answer in ("a", "approve", "y", "yes"):
            for reason in approve(project).reasons:
                tell(prose(f"They cannot be approved: {reason}. An agent writes them again."), err=True)
            return True
        if answer in ("r", "refuse", "n", "no") and (reason := _reason()):
            refuse(project, reason)
            return True


def _reason() -> str:
    try:
        return ask("What is wrong with them?")
    except EOFError:
        return ""


def _command(project: Project, file: str) -> str:
    try:
        return command_for(project.root, file, project.settings)
    except AotError as error:
        return error.message


def require_tests_consent(path: str, settings: ShipSettings, *, yes: bool) -> None:
    what = "would run acceptance tests, written by an agent, on your machine with these commands:"
    require_acceptance(path, commands_for_tests(settings), what, yes=yes)


def consent_to_tests(*, yes: bool) -> Consent:
    return lambda project: require_tests_consent(project.store.path, project.settings, yes=yes)
