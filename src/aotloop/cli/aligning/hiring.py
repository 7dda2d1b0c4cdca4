"""Who leads the dialogue: the agent that was named, else the one that is configured; nobody, if there is none."""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.agents.contract import Backend, Limits
from aotloop.alignment.planning import Planner
from aotloop.cli.consent import require_config_consent
from aotloop.cli.foreign import prose
from aotloop.cli.output import tell
from aotloop.config import Config, load
from aotloop.errors import Unavailable
from aotloop.launch.admission import hire
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store

SHELL = "shell"
"""Does what it is told, and has no questions."""


class Hired(msgspec.Struct, frozen=True, kw_only=True):
    planner: Planner
    instructions: str | None = None


def planner_of(store: Store, named: str | None) -> Hired | None:
    """One that was named has to be there; of one that is only configured, it is said if it is not."""
    root = Path(project_root(store.path))
    if not root.is_dir():
        tell("There is no project to look at yet, so a form asks.", err=True)
        return None
    config = load(root)
    name = named or config.agent_of("planner")
    if name is None or (name == SHELL and named is None):
        tell("No agent is configured, so a form asks. (--agent NAME lets one lead.)", err=True)
        return None
    require_config_consent(config, yes=False)
    try:
        backend, limits = _hired(config, name)
    except Unavailable as error:
        if named is not None:
            raise
        tell(prose(f"{error.message}; so a form asks."), err=True)
        return None
    planner = Planner(
        name=name,
        backend=backend,
        limits=limits,
        root=root,
        state_file=Path(store.path),
        confines=config.confine == "auto",
        max_cost_usd=config.max_attempt_cost_usd,
    )
    return Hired(planner=planner, instructions=config.role("planner").instructions)


def _hired(config: Config, name: str) -> tuple[Backend, Limits]:
    """Raises Unavailable also where it is certain that it could not be started."""
    backend, limits = hire(config, name, "planner")
    presence = backend.look()
    if presence.is_missing:
        raise Unavailable(f"{name}: {presence.problem}", hint=presence.remedy)
    return backend, limits
