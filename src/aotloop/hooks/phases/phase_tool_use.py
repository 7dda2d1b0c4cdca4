"""PreToolUse during shipping: only scripts change the loop's file, and agreed acceptance tests do not change.

This hook only forbids. A shell can still change the tests; then no receipt counts until they are restored.
"""

from __future__ import annotations

from aotloop.core.phases.model import PhaseLoop
from aotloop.hooks.answers import Answer, Deny
from aotloop.hooks.payload import Payload
from aotloop.hooks.pre_tool_use import SHELL
from aotloop.hooks.write_targets import Target, writes_to
from aotloop.phases.project import protected
from aotloop.text.patterns import matching
from aotloop.text.shorten import short_line

DRIVEN = ("running", "waiting")


def decide(payload: Payload, loop: PhaseLoop, targets: list[Target], phase_file_name: str) -> Answer:
    """For the session that drives the loop, and for its agents. The targets' state file is that of the phase loop."""
    if not payload.session_id or payload.session_id != loop.session_id or loop.status not in DRIVEN:
        return Answer()
    is_by_shell = payload.tool_name == SHELL and writes_to(str(payload.tool_input.get("command", "")), phase_file_name)
    if is_by_shell or any(target.is_state_file for target in targets):
        return Deny(reason="A feature is shipped, and the loop's file is not edited by hand: ship.py changes it.")
    globs = protected(loop)
    if not targets or not globs:
        return Answer()
    if kept := matching([path for target in targets for path in target.inside], globs):
        reason = f"{short_line(kept[0])} belongs to the acceptance tests. They do not change after they were filed."
        return Deny(reason=f"{reason} If they are wrong, say so in your answer; a person decides.")
    return Answer()
