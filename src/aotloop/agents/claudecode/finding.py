"""What can be known of Claude Code before it is used: where it is, whose it is, and whether somebody logged in."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from aotloop.agents.claudecode.program import NAME, find_program, is_carried
from aotloop.agents.claudecode.sessions import home_of
from aotloop.agents.claudecode.starting import chosen_clouds
from aotloop.agents.claudecode.troubles import LOG_IN
from aotloop.agents.presence import Asking, Login, Presence, login_by
from aotloop.errors import Unavailable

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
