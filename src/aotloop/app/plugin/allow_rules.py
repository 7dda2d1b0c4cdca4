"""Rules by which Claude Code runs the plugin's scripts without a question. Only a person's yes adds them.

Permissions that a command of the plugin has end with the turn in which it was typed. Agents in the background go on
after that, and ask again. The rules name single scripts: a pattern for a folder would also permit other programs by
`..` in a path. Scripts that run any command, or that write what a person is said to have agreed on, have no rule.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from aotloop.app.plugin.client import Scope
from aotloop.app.plugin.client_settings import read_settings, write_settings
from aotloop.app.plugin.installation import Installation
from aotloop.errors import Unavailable

STAY_WITH_THE_PERSON = ("verify_command", "align_goal")
PERMITS = (
    "the scripts of aot-loop: they read and change the loop's state file, run the checks that you accepted, and"
    " commit, merge and revert the work of its agents; and `git rev-parse`, which changes nothing"
)
PERMITS_NOT = "edits, other commands, verify_command.py (it runs any command) and align_goal.py still ask you"
_GIT = "Bash(git rev-parse:*)"
_SPECIAL = "()*"


def allow_rules(place: Installation) -> tuple[str, ...]:
    """Empty if the folder's name cannot be part of a rule."""
    folder = str(place.folder)
    if any(character in folder for character in _SPECIAL) or folder != folder.strip() or " " in folder:
        return ()
    scripts = sorted(place.folder.glob("skills/*/scripts/*.py"))
    named = [path for path in scripts if path.stem not in STAY_WITH_THE_PERSON]
    return (*(f"Bash(python3 {path}:*)" for path in named), _GIT)


def settings_file(scope: Scope, project: Path) -> Path:
    """Of this person alone: the rules name a folder of this machine."""
    if scope == "project":
        return project / ".claude" / "settings.local.json"
    folder = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")  # noqa: PTH111, PTH118
    return Path(folder) / "settings.json"


def missing_rules(file: Path, rules: tuple[str, ...]) -> tuple[str, ...]:
    """Raises Unavailable if the settings cannot be understood."""
    there = _allowed(read_settings(file), file)
    return tuple(rule for rule in rules if rule not in there)


def add_rules(file: Path, rules: tuple[str, ...]) -> None:
    """Everything else in the settings stays as it is."""
    settings = read_settings(file)
    there = _allowed(settings, file)
    permissions = {**settings.get("permissions", {}), "allow": [*there, *(rule for rule in rules if rule not in there)]}
    write_settings(file, {**settings, "permissions": permissions})


def remove_rules(file: Path, rules: tuple[str, ...]) -> bool:
    """Whether there were any."""
    settings = read_settings(file)
    there = _allowed(settings, file)
    left = [rule for rule in there if rule not in rules]
    if left == there:
        return False
    permissions = {**settings["permissions"], "allow": left}
    if not left:
        del permissions["allow"]
    write_settings(file, {**settings, "permissions": permissions} if permissions else _without(settings, "permissions"))
    return True


def _without(settings: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name != key}


def _allowed(settings: dict[str, Any], file: Path) -> list[str]:
    permissions = settings.get("permissions", {})
    allowed = permissions.get("allow", []) if isinstance(permissions, dict) else None
    if not isinstance(allowed, list):
        raise Unavailable(f"{file}: permissions.allow is not a list", hint="Correct it; nothing was changed.")
    return allowed
