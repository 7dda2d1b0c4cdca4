"""The configuration as one value. Fields are the keys of the file; durations are in seconds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec.structs import replace

from aotloop.agents.attempt.usage import Price
from aotloop.agents.prompts.short_prompt import Style
from aotloop.agents.registry import BACKENDS, EndpointSettings, Settings
from aotloop.agents.roles import Role
from aotloop.config.outlet_settings import NotifySettings, TelemetrySettings
from aotloop.config.remote_settings import RemoteSettings, WorkerSettings
from aotloop.config.values import did_you_mean
from aotloop.core.phases.model import ShipSettings
from aotloop.errors import Unavailable
from aotloop.git.worktrees.setup import INPUTS, Setup
from aotloop.process.environment import named
from aotloop.process.sandbox.fence import Choice, Network, Policy
from aotloop.process.spec import Limits

COMMAND = "command"
"""The kind of an agent whose settings name no kind."""

WITH_ARGV = (COMMAND, "acp")
"""These kinds need a program to run."""

ENDPOINT = "openai"
"""The kind of an agent that is a model behind an address."""

ISOLATED = ("claude", "codex", "opencode")
"""These kinds see the operator's own settings only if the operator allows it."""

Isolation = Literal["worktree", "none", "remote"]
ISOLATIONS: tuple[str, ...] = get_args(Isolation)

Confine = Literal["auto", "off"]
CONFINES: tuple[str, ...] = get_args(Confine)


class AgentConfig(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    argv: tuple[str, ...] = ()
    model: str | None = None
    program: str | None = None
    pass_env: tuple[str, ...] = ()
    operator_settings: bool = False
    timeouts: dict[str, float | None] = {}
    """The limits that differ from those of all agents; None: no limit."""
    fallback: tuple[str, ...] | None = None
    """The agents that replace this one; None: the list for all agents."""
    price: Price | None = None
    """The price, for a client that counts tokens but no money."""
    max_sitting: int | None = None
    """None: the value for all agents."""
    roles: tuple[Role, ...] | None = None
    """The roles that it can be asked in; None: a program that we do not know works only, a known client plays all."""
    prompt: Style | None = None
    """None: short for a model behind an address, else full."""
    base_url: str | None = None
    key: str | None = None
    """The name of a variable."""
    temperature: float | None = None
    context: int | None = None
    tools: Literal["auto", "yes", "no"] = "auto"
    queue: str | None = None
    """The queue of workers on other machines that have this agent; None: as the isolation says."""

    @property
    def endpoint(self) -> EndpointSettings:
        return EndpointSettings(
            base_url=self.base_url,
            key=self.key,
            temperature=self.temperature,
            context=self.context,
            tools=self.tools,
        )


class RoleConfig(msgspec.Struct, frozen=True, kw_only=True):
    agent: str | None = None
    """None: the agent for everything. An atom's own agent comes first."""
    model: str | None = None
    """The model of that agent. A replacement uses its own model."""
    timeouts: dict[str, float | None] = {}
    instructions: str | None = None
    """Added to the rules for this role."""
    votes: int = 1
    """How often a judge is asked; the median counts."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    agent: str | None = None
    """The agent of atoms that have neither `run` nor `agent`."""
    isolation: Isolation = "worktree"
    confine: Confine = "auto"
    """Whether the kernel keeps agents in worktrees out of the checkout, where it can."""
    sandbox: Choice = "auto"
    """The engine of every fence; a project's file can only ask for a stronger one."""
    network: Network = "all"
    """What agents can reach; a project's file can only ask for less."""
    writable: tuple[str, ...] = ()
    """Further places that agents may change; a project's file cannot add any."""
    fence_commands: bool = True
    """Whether commands of atoms, and `setup`, run behind the fence of agents; a project's file cannot switch it off."""
    worktrees: Path | None = None
    """An absolute path; None: in the user's cache."""
    setup: str | None = None
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    setup_inputs: tuple[str, ...] | None = None
    """None: the files that usually name dependencies."""
    setup_timeout: float = 1800.0
    check_timeout: float = 120.0
    pass_env: tuple[str, ...] = ()
    """More variables that checks, tests and `setup` get; a project's file cannot add any."""
    timeouts: Limits = Limits(start_up=1800.0, inactivity=1800.0, total=14400.0)
    allow_dirty: bool = False
    fallback: tuple[str, ...] = ()
    """Replacement agents, in order, for an agent that cannot be used or refuses the work."""
    patience: float = 60.0
    """Seconds to wait for a busy agent before another one is asked."""
    max_attempt_cost_usd: float | None = None
    max_sitting: int = 8
    """The most attempts in one conversation, one after another; 1: each attempt has its own."""
    max_journal_mb: int = 500
    roles: dict[Role, RoleConfig] = {}
    agents: dict[str, AgentConfig] = {}
    ship: ShipSettings = ShipSettings()
    notify: NotifySettings = NotifySettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    remote: RemoteSettings = RemoteSettings()
    worker: WorkerSettings = WorkerSettings()
    source: Path | None = None
    """The project's file, if it has one."""
    permissions: tuple[str, ...] = ()
    """What that file would run or hand out, even if another source overrides it this time."""

    @property
    def fence(self) -> Policy | None:
        """The person's decision about every fence; None: there is no fence."""
        if self.confine == "off" or self.sandbox == "off":
            return None
        return Policy(
            engine=self.sandbox, network=self.network, writable=self.writable, holds_commands=self.fence_commands
        )

    @property
    def worktree_setup(self) -> Setup:
        return Setup(
            command=self.setup,
            copy=self.copy,
            link=self.link,
            inputs=INPUTS if self.setup_inputs is None else self.setup_inputs,
            timeout=self.setup_timeout,
        )

    def variables(self, run_id: str | None = None) -> dict[str, str]:
        """What checks, tests and `setup` get in addition; in a run, also the mark of its processes."""
        return {**named(os.environ, self.pass_env), **({"AOT_RUN_ID": run_id} if run_id is not None else {})}

    def role(self, role: Role) -> RoleConfig:
        return self.roles.get(role, RoleConfig())

    def agent_of(self, role: Role) -> str | None:
        """The agent of this role, unless an atom names one: the usual one, or the first of its chain that plays it."""
        named = self.role(role).agent
        if named is not None or self.agent is None:
            return named
        return next((name for name in self.chain(self.agent) if self.plays(name, role)), None)

    def instructions_for(self, role: Role) -> str | None:
        return self.role(role).instructions

    def chain(self, name: str) -> tuple[str, ...]:
        """An agent and its replacements, in order."""
        agent = self.agents.get(name)
        others = agent.fallback if agent is not None and agent.fallback is not None else self.fallback
        return tuple(dict.fromkeys((name, *others)))

    def plays(self, name: str, role: Role) -> bool:
        """Whether this agent can be asked in this role. An agent that is named for a role plays it."""
        agent = self.agents.get(name)
        if name == self.role(role).agent:
            return True
        if agent is not None and agent.roles is not None:
            return role in agent.roles
        return role == "worker" or agent is None or agent.kind != COMMAND

    def style_of(self, name: str) -> Style:
        agent = self.agents.get(name)
        if agent is not None and agent.prompt is not None:
            return agent.prompt
        return "short" if (agent.kind if agent is not None else name) == ENDPOINT else "full"

    def price_of(self, name: str) -> Price | None:
        agent = self.agents.get(name)
        return agent.price if agent is not None else None

    def queue_of(self, name: str) -> str | None:
        """The queue of the workers that make attempts with this agent; None: they are made on this machine."""
        agent = self.agents.get(name)
        if agent is not None and agent.queue is not None:
            return agent.queue
        return self.remote.queue if self.isolation == "remote" else None

    @property
    def goes_elsewhere(self) -> bool:
        """Whether any attempt may be made on another machine."""
        return self.isolation == "remote" or any(agent.queue is not None for agent in self.agents.values())

    def sitting_of(self, name: str) -> int:
        agent = self.agents.get(name)
        return agent.max_sitting if agent is not None and agent.max_sitting is not None else self.max_sitting

    def agent_settings(self, name: str, role: Role | None = None) -> tuple[str, Settings, Limits]:
        """The kind of the agent, for aotloop.agents.registry, and its settings."""
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
                price=agent.price,
                endpoint=agent.endpoint,
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
