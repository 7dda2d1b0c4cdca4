"""A person at the terminal is shown the acceptance tests, and asked about them right there."""

from __future__ import annotations

from aotloop.cli.asking import ask, somebody_is_there
from aotloop.cli.foreign import prose, visible
from aotloop.cli.output import tell
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.filing import approve, refuse
from aotloop.phases.ground import Ground
from aotloop.phases.testing import command_for


def is_somebody_asked(*, as_json: bool) -> bool:
    return not as_json and somebody_is_there()


def ask_about_tests(ground: Ground, loop: PhaseLoop) -> bool:
    """Whether there was an answer; what it was is known to the loop by then."""
    file = loop.artifacts.acceptance_tests_file or ""
    tell(f"The acceptance tests are written: {visible(file)}", err=True)
    tell(f"They are run with: {visible(_command(ground, file))}", err=True)
    tell("Read them. They decide whether the feature works, and nobody may change them afterwards.", err=True)
    while True:
        try:
            answer = ask("approve, refuse, or later? [a/r/L]").lower()
        except EOFError:
            return False
        if answer in ("", "l", "later"):
            return False
        if answer in ("a", "approve", "y", "yes"):
            for reason in approve(ground).reasons:
                tell(prose(f"They cannot be agreed to: {reason}. They are written anew."), err=True)
            return True
        if answer in ("r", "refuse", "n", "no") and (reason := _reason()):
            refuse(ground, reason)
            return True


def _reason() -> str:
    try:
        return ask("What is wrong with them?")
    except EOFError:
        return ""


def _command(ground: Ground, file: str) -> str:
    try:
        return command_for(ground.root, file, ground.settings)
    except AotError as error:
        return error.message
