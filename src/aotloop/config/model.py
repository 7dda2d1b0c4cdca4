"""The configuration as one value: fields are the keys of the file, lengths of time are seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Limits
from aotloop.agents.prices import Price
from aotloop.agents.registry import BACKENDS
from aotloop.agents.roles import Role
from aotloop.agents.settings import Settings
from aotloop.config.places import did_you_mean
from aotloop.core.phases.settings import ShipSettings
from aotloop.errors import Unavailable
from aotloop.workspace.setup import INPUTS, Setup

COMMAND = "command"
"""The kind of an agent that names none."""

WITH_ARGV = (COMMAND, "acp")
"""Kinds of which there is no agent without a program to run."""

ISOLATED = ("claude", "codex", "opencode")
"""Kinds that see the operator's own settings only where the operator says so."""

Isolation = Literal["worktree", "none"]
ISOLATIONS: tuple[str, ...] = get_args(Isolation)

Confine = Literal["auto", "off"]
CONFINES: tuple[str, ...] = get_args(Confine)


class AgentConfig(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    """The name of a backend."""
    argv: tuple[str, ...] = ()
    model: str | None = None
    program: str | None = None
    pass_env: tuple[str, ...] = ()
    operator_settings: bool = False
    timeouts: dict[str, float | None] = {}
    """Those of Limits that are other than for all agents; None: no limit."""
    fallback: tuple[str, ...] | None = None
    """Who is asked in its place; None: as for all agents."""
    price: Price | None = None
    """Of a client that counts tokens, and no money."""
    max_sitting: int | None = None
    """None: as for all agents."""


class RoleConfig(msgspec.Struct, frozen=True, kw_only=True):
    agent: str | None = None
    """None: the one that does everything. Of an atom's own agent the atom says more."""
    model: str | None = None
    """Of that agent; whoever is asked in its place uses its own."""
    timeouts: dict[str, float | None] = {}
    instructions: str | None = None
    """Added to the rules that this role is told."""
    votes: int = 1
    """Of a judge: how often it is asked; the median counts."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    agent: str | None = None
    """Of atoms that have neither `run` nor `agent`."""
    isolation: Isolation = "worktree"
    confine: Confine = "auto"
    """Whether the kernel keeps agents in worktrees out of the checkout, where it can."""
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
    fallback: tuple[str, ...] = ()
    """Who is asked, one after another, when an agent cannot be used or will not do it."""
    patience: float = 60.0
    """Seconds that an agent which is busy is waited for before another one is asked."""
    max_attempt_cost_usd: float | None = None
    max_sitting: int = 8
    """Attempts that one conversation may take, one after another; 1: each attempt has its own."""
    roles: dict[Role, RoleConfig] = {}
    agents: dict[str, AgentConfig] = {}
    ship: ShipSettings = ShipSettings()
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

    def role(self, role: Role) -> RoleConfig:
        return self.roles.get(role, RoleConfig())

    def agent_of(self, role: Role) -> str | None:
        """Who has this role, where an atom does not say."""
        return self.role(role).agent or self.agent

    def instructions_for(self, role: Role) -> str | None:
        return self.role(role).instructions

    def chain(self, name: str) -> tuple[str, ...]:
        """An agent, and who is asked in its place."""
        agent = self.agents.get(name)
        others = agent.fallback if agent is not None and agent.fallback is not None else self.fallback
        return tuple(dict.fromkeys((name, *others)))

    def price_of(self, name: str) -> Price | None:
        agent = self.agents.get(name)
        return agent.price if agent is not None else None

    def sitting_of(self, name: str) -> int:
        agent = self.agents.get(name)
        return agent.max_sitting if agent is not None and agent.max_sitting is not None else self.max_sitting

    def agent_settings(self, name: str, role: Role | None = None) -> tuple[str, Settings, Limits]:
        """Its kind, for aotloop.agents.registry, and what that needs to know."""
        kind, settings, limits = self._settings(name)
        if role is None:
            return kind, settings, limits
        wanted = self.role(role)
        is_own = wanted.model is not None and name == self.agent_of(role)
        return kind, replace(settings, model=wanted.model) if is_own else settings, replace(limits, **wanted.timeouts)

    def _settings(self, name: str) -> tuple[str, Settings, Limits]:
        agent = self.agents.get(name)
        if agent is not None:
            settings = Settings(
                argv=agent.argv,
                model=agent.model,
                program=agent.program,
                pass_env=agent.pass_env,
                operator_settings=agent.operator_settings,
            )
            return agent.kind, settings, replace(self.timeouts, **agent.timeouts)
        known = {*self.agents, *(kind for kind in BACKENDS if kind not in WITH_ARGV)}
        if name in known:
            return name, Settings(), self.timeouts
        how = 'To configure one, add to aot.toml: [agents.NAME] with argv = ["my-agent", "{prompt}"]'
        raise Unavailable(
            f"there is no agent {name!r}; there are: {', '.join(sorted(known))}",
            hint=" ".join(filter(None, (did_you_mean(name, known), how))),
        )
