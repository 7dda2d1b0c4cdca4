"""Chooses the agent that leads the dialogue: the named one, else the configured one, else none."""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.app.align.planner import Planner, hire_planner
from aotloop.cli.ui.consent_dialog import require_config_consent
from aotloop.cli.ui.output import tell
from aotloop.config.schema import Config
from aotloop.config.sources import load
from aotloop.errors import Unavailable
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose

SHELL = "shell"
"""This backend runs commands only; it cannot ask questions."""


class Hired(msgspec.Struct, frozen=True, kw_only=True):
    planner: Planner
    instructions: str | None = None


def planner_of(store: Store, named: str | None) -> Hired | None:
    """A named agent has to be available. If a configured agent is not, a message says so and a form asks."""
    root = Path(project_root(store.path))
    if not root.is_dir():
        tell("There is no project yet for an agent to look at, so a form asks the questions.", err=True)
        return None
    config = load(root)
    name = named or config.agent_of("planner")
    if name is None or (name == SHELL and named is None):
        tell(_why_a_form(config), err=True)
        return None
    require_config_consent(config, yes=False)
    try:
        planner = hire_planner(config, name, root, store.path)
    except Unavailable as error:
        if named is not None:
            raise
        tell(prose(f"{error.message}; so a form asks the questions."), err=True)
        return None
    return Hired(planner=planner, instructions=config.role("planner").instructions)


def _why_a_form(config: Config) -> str:
    if config.agent in (None, SHELL):
        return "No agent is configured, so a form asks the questions. (--agent NAME chooses an agent.)"
    return prose(
        f"The agent {config.agent} does not plan, so a form asks the questions. (--agent NAME chooses an agent;"
        ' roles = ["worker", "planner"] says that a program of yours plans, too.)'
    )
