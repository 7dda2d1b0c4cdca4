"""Permissions that a project's file asks for: what it would run, use or hand out. A person has to see them.

The file came with the repository. This module decides for each key whether it gives power. Time limits give none; the
agents and their tools do.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from aotloop.agents.attempt.usage import Price
from aotloop.agents.roles import Role
from aotloop.config.schema import AgentConfig, RoleConfig
from aotloop.core.phases.model import ShipSettings


def permissions_of(settings: Mapping[str, Any]) -> Iterator[str]:
    """In the order of the file. Two files that ask for different things never give the same list.

    A person accepts the list. A text has several lines if its command has several.
    """
    for key, value in settings.items():
        if key in PERMISSIONS:
            yield from PERMISSIONS[key](value)


def _isolation(isolation: str) -> Iterator[str]:
    if isolation == "none":
        yield "isolation: none; agents work in the checkout itself"


def _confine(confine: str) -> Iterator[str]:
    if confine == "off":
        yield "confine: off; agents are not kept out of the checkout"


def _allow_dirty(allow_dirty: bool) -> Iterator[str]:
    if allow_dirty:
        yield "allow_dirty: true; agents work although there are uncommitted changes"


def _agents(agents: Mapping[str, AgentConfig]) -> Iterator[str]:
    for name, agent in agents.items():
        yield f"agent {name}: {shlex.join(agent.argv)}" if agent.argv else f"agent {name} is of the kind {agent.kind}"
        if agent.program is not None:
            yield f"agent {name} is the program: {agent.program}"
        if agent.model is not None:
            yield f"agent {name} uses the model: {agent.model}"
        yield from _endpoint(name, agent)
        if agent.roles is not None:
            yield f"agent {name} plays the roles: {', '.join(agent.roles) or 'none'}"
        if agent.pass_env:
            yield f"agent {name} gets the variables: {', '.join(agent.pass_env)}"
        if agent.operator_settings:
            yield f"agent {name} loads your own settings, hooks and servers"
        if agent.fallback is not None:
            yield f"in the place of agent {name}: {', '.join(agent.fallback) or 'no other agent'}"
        if agent.price is not None:
            yield f"agent {name} is said to cost: {_price(agent.price)}"


def _endpoint(name: str, agent: AgentConfig) -> Iterator[str]:
    if agent.base_url is not None:
        yield f"agent {name} sends prompts and files of this project to: {agent.base_url}"
    if agent.key is not None:
        yield f"agent {name} sends the key in the variable {agent.key} there"


def _price(price: Price) -> str:
    return ", ".join(f"{kind} {getattr(price, kind):g}" for kind in Price.__struct_fields__)


def _roles(roles: Mapping[Role, RoleConfig]) -> Iterator[str]:
    for role, wanted in roles.items():
        if wanted.agent is not None:
            yield f"agent for the role {role}: {wanted.agent}"
        if wanted.model is not None:
            yield f"model for the role {role}: {wanted.model}"
        if wanted.instructions is not None:
            yield f"instructions for the role {role}: {wanted.instructions}"
        if wanted.votes != 1:
            yield f"votes of the role {role}: {wanted.votes}"


def _ship(ship: ShipSettings) -> Iterator[str]:
    if ship.test_command is not None:
        yield f"acceptance tests are run with: {ship.test_command}"
    for phase, command in ship.commands.items():
        yield f"the phase {phase} is done with: {command}"


PERMISSIONS: Mapping[str, Callable[[Any], Iterator[str]]] = MappingProxyType(
    {
        "agent": lambda name: iter((f"default agent: {name}",)),
        "isolation": _isolation,
        "confine": _confine,
        # The project can only ask for less of these: see restrictions.
        "sandbox": lambda _: iter(()),
        "network": lambda _: iter(()),
        "writable": lambda _: iter(()),
        "pass_env": lambda _: iter(()),
        "fence_commands": lambda _: iter(()),
        "worktrees": lambda folder: iter((f"worktrees in: {folder}",)),
        "setup": lambda command: iter((f"setup: {command}",)),
        "copy": lambda patterns: (f"copy: {pattern}" for pattern in patterns),
        "link": lambda patterns: (f"link: {pattern}" for pattern in patterns),
        "allow_dirty": _allow_dirty,
        "fallback": lambda names: iter((f"agents to fall back on: {', '.join(names)}",)),
        "roles": _roles,
        "agents": _agents,
        "ship": _ship,
    }
)
