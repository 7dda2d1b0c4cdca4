"""PreToolUse while a feature is shipped: its file is changed by scripts alone, and agreed acceptance tests by nobody.

It only ever narrows. A shell can still get at the tests; then no receipt counts until they are as they were.
"""

from __future__ import annotations

from aotloop.core.phases.model import PhaseLoop
from aotloop.hooks.answers import Answer, Deny
from aotloop.hooks.guarding import SHELL, Target
from aotloop.hooks.shell_writes import writes_to
from aotloop.hooks.told import Told
from aotloop.hooks.words import line
from aotloop.phases.protecting import protected

DRIVEN = ("running", "waiting")


def decide(told: Told, loop: PhaseLoop, targets: list[Target], phase_file_name: str) -> Answer:
    """Of the session that drives the loop, and of its agents. The targets' state file is that of the phase loop."""
    if not told.session_id or told.session_id != loop.session_id or loop.status not in DRIVEN:
        return Answer()
    is_by_shell = told.tool_name == SHELL and writes_to(str(told.tool_input.get("command", "")), phase_file_name)
    if is_by_shell or any(target.is_state_file for target in targets):
        return Deny(reason="A feature is shipped, and the loop's file is not edited by hand: ship.py changes it.")
    globs = protected(loop)
    if not targets or not globs:
        return Answer()
    from aotloop.workspace.globs import matching  # noqa: PLC0415 - not needed for most calls

    if kept := matching([path for target in targets for path in target.inside], globs):
        reason = f"{line(kept[0])} belongs to the acceptance tests, which nobody changes once they were filed."
        return Deny(reason=f"{reason} If they are wrong, say so in your answer; a person decides.")
    return Answer()
