"""The configuration as one value: fields are the keys of the file, lengths of time are seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Limits
from aotloop.agents.registry import BACKENDS
from aotloop.agents.settings import Settings
from aotloop.config.places import did_you_mean
from aotloop.errors import Unavailable
from aotloop.workspace.setup import INPUTS, Setup

COMMAND = "command"
"""The kind of an agent that names none."""

WITH_ARGV = (COMMAND, "acp")
"""Kinds of which there is no agent without a program to run."""

Isolation = Literal["worktree", "none"]
ISOLATIONS: tuple[str, ...] = get_args(Isolation)


class AgentConfig(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    """The name of a backend."""
    argv: tuple[str, ...] = ()
    model: str | None = None
    program: str | None = None
    pass_env: tuple[str, ...] = ()
    timeouts: dict[str, float | None] = {}
    """Those of Limits that are other than for all agents; None: no limit."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    agent: str | None = None
    """Of atoms that have neither `run` nor `agent`."""
    isolation: Isolation = "worktree"
    worktrees: str | None = None
    """An absolute path; None: in the user's cache."""
    setup: str | None = None
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    setup_inputs: tuple[str, ...] | None = None
    """None: the files in which dependencies are usually named."""
    setup_timeout: float = 1800.0
    check_timeout: float = 120.0
    timeouts: Limits = Limits(start_up=1800.0, inactivity=1800.0, total=14400.0)
    allow_dirty: bool = False
    agents: dict[str, AgentConfig] = {}
    source: Path | None = None
    """The project's file, if it has one."""
    powers: tuple[str, ...] = ()
    """What that file would have us run or hand out, whether or not something else outdoes it this time."""

    @property
    def worktree_setup(self) -> Setup:
        return Setup(
            command=self.setup,
            copy=self.copy,
            link=self.link,
            inputs=INPUTS if self.setup_inputs is None else self.setup_inputs,
            timeout=self.setup_timeout,
        )

    def agent_settings(self, name: str) -> tuple[str, Settings, Limits]:
        """Its kind, for aotloop.agents.registry, and what that needs to know."""
        agent = self.agents.get(name)
        if agent is not None:
            settings = Settings(argv=agent.argv, model=agent.model, program=agent.program, pass_env=agent.pass_env)
            return agent.kind, settings, replace(self.timeouts, **agent.timeouts)
        known = {*self.agents, *(kind for kind in BACKENDS if kind not in WITH_ARGV)}
        if name in known:
            return name, Settings(), self.timeouts
        how = 'To configure one, add to aot.toml: [agents.NAME] with argv = ["my-agent", "{prompt}"]'
        raise Unavailable(
            f"there is no agent {name!r}; there are: {', '.join(sorted(known))}",
            hint=" ".join(filter(None, (did_you_mean(name, known), how))),
        )
