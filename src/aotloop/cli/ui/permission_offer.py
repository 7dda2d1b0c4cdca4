"""Offers a person the rules by which their client runs the plugin's scripts. Nothing is written without their yes."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.app.plugin.allow_rules import PERMITS, PERMITS_NOT, add_rules, missing_rules
from aotloop.cli.ui.output import faint, mark, tell
from aotloop.cli.ui.prompts import agrees, is_interactive
from aotloop.text.sanitize import prose

_SESSIONS = ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CLAUDECODE")
"""A command that an agent runs has one of these: there, an answer would not be a person's."""


def offer_rules(file: Path, rules: tuple[str, ...]) -> bool:
    """Whether all rules are in the settings now. Raises Unavailable if the settings cannot be read or written."""
    missing = missing_rules(file, rules)
    if not missing:
        return True
    tell("Claude Code asks you about each script of the plugin that an agent in the background runs.", err=True)
    tell(f"{len(missing)} allow rules in {file} would let it run, without a question: {PERMITS}.", err=True)
    tell(f"Not included: {PERMITS_NOT}.", err=True)
    if not _is_a_person_there():
        tell("They were not added. `aot plugin install` asks you about them on a terminal.", err=True)
        return False
    for rule in missing:
        tell(prose(rule), head="  ", style=faint, err=True)
    try:
        accepted = agrees(f"Add these rules to {file}?")
    except EOFError:
        accepted = False
    if accepted:
        add_rules(file, rules)
    words = "They were added; `aot plugin uninstall` removes them." if accepted else "Nothing was added."
    tell(words, head=f"{mark(True if accepted else None)} ", err=True)
    return accepted


def _is_a_person_there() -> bool:
    return is_interactive() and not any(os.environ.get(name) for name in _SESSIONS)
