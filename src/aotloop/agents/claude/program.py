"""The program of Claude Code: the configured path, else on PATH, else in the package `claude_agent_sdk`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from aotloop.agents.claude.command_line import chosen_clouds
from aotloop.agents.claude.conversations import home_of
from aotloop.agents.claude.event_summary import LOG_IN
from aotloop.agents.client.detection import Asking, Login, Presence, login_by
from aotloop.errors import Unavailable
from aotloop.extras import install_command

NAME = "claude"
_PACKAGE = "claude_agent_sdk"


def find_program(configured: str | None) -> str:
    """Raises Unavailable."""
    if configured is not None:
        is_path = "/" in configured
        found = shutil.which(Path(configured).expanduser().absolute() if is_path else configured)
        if found is None:
            raise Unavailable(
                f"there is no program {configured}", hint="Correct `program` of the agent in your configuration."
            )
    else:
        found = shutil.which(NAME) or _carried()
        if found is None:
            raise Unavailable(
                "Claude Code is not installed",
                hint=f"Install it with: {install_command(NAME)}, or put `{NAME}` on your PATH.",
            )
    return str(Path(found).absolute())  # the client starts in another folder


def is_carried(program: str) -> bool:
    """Whether it is the program of the package."""
    carried = _carried()
    return carried is not None and str(Path(carried).absolute()) == program


def _carried() -> str | None:
    """The package is searched, not loaded."""
    package = find_spec(_PACKAGE)
    if package is None or package.origin is None:
        return None
    return shutil.which(Path(package.origin).parent / "_bundled" / NAME)


_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_FOLDER = "CLAUDE_CONFIG_DIR"


def look_for_claude(configured: str | None, surroundings: Mapping[str, str], tested: tuple[int, ...]) -> Presence:
    login = _login(surroundings)
    try:
        program = find_program(configured)
    except Unavailable as error:
        return Presence(login=login, log_in=LOG_IN, problem=error.message, remedy=error.hint)
    if configured is not None:
        origin = "the one of the configuration"
    else:
        origin = "the one that claude-agent-sdk carries" if is_carried(program) else f"your own `{NAME}`"
    asking = Asking(argv=(program, "--version"), folders=(_FOLDER,), tested=tested)
    return Presence(program=program, origin=origin, asking=asking, login=login, log_in=LOG_IN)


def _login(surroundings: Mapping[str, str]) -> Login:
    cloud = next(iter(chosen_clouds(surroundings)), None)
    if cloud is not None:
        return Login("unknown", f"{cloud} is set: the credentials are those of that cloud")
    folder = home_of(surroundings)
    # On macOS the login is in the keychain, which we do not open.
    otherwise: Login = login_by(surroundings, _KEYS, folder / ".credentials.json")
    if otherwise.state == "no" and sys.platform == "darwin":
        return Login("unknown", "the keychain of macOS may have one")
    return otherwise
