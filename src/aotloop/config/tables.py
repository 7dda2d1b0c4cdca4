"""The tables of settings: every key and its reader.

A new setting is a row here, a field of Config, and a decision in `permissions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from aotloop.agents.attempt.usage import Price
from aotloop.agents.contract import Tokens
from aotloop.agents.prompts.short_prompt import STYLES
from aotloop.agents.registry import BACKENDS, Settings, backend
from aotloop.agents.roles import ROLES, Role
from aotloop.config.endpoints import address, plain_variable, temperature, tools
from aotloop.config.outlet_settings import NOTIFY, TELEMETRY, NotifySettings, TelemetrySettings
from aotloop.config.remote_settings import REMOTE, WORKER, RemoteSettings, WorkerSettings
from aotloop.config.schema import COMMAND, CONFINES, ENDPOINT, ISOLATED, ISOLATIONS, WITH_ARGV, AgentConfig, RoleConfig
from aotloop.config.values import (
    Place,
    Reader,
    agent_name,
    amount,
    arguments,
    did_you_mean,
    duration,
    duration_or_none,
    filled_text,
    folder,
    hosts,
    kind_of,
    list_of,
    odd_number,
    one_of,
    pattern,
    positive_amount,
    positive_number,
    switch,
    variable,
)
from aotloop.core.findings import dotted
from aotloop.core.phases.model import PHASES, Phase, ShipSettings
from aotloop.errors import AotError
from aotloop.process.sandbox.fence import CHOICES
from aotloop.process.spec import Limits


def read_settings(
    written: Mapping[str, object], place_of: Callable[[str], Place], readers: Mapping[str, Reader] | None = None
) -> dict[str, Any]:
    """The settings in the order of the file."""
    known = KEYS if readers is None else readers
    found = {}
    for key, value in written.items():
        if key not in known:
            hint = did_you_mean(key, known) or f"There are: {', '.join(known)}."
            raise place_of(key).mistake("there is no such key", hint)
        found[key] = known[key](value, place_of(key))
    return found


def table(value: object, at: Place) -> dict[str, object]:
    if not isinstance(value, dict):
        heading = f"Its heading is: [{dotted(at.path)}]" if at.path else None
        raise at.mistake(f"must be a table, and is {kind_of(value)}", heading)
    return value


# --- tables within the table -------------------------------------------------------------------------------------


def _timeouts(value: object, at: Place) -> dict[str, float | None]:
    """Only the given timeouts; the others come from other sources."""
    return read_settings(table(value, at), at.inner, _TIMEOUTS)


def _roles(value: object, at: Place) -> dict[Role, RoleConfig]:
    return read_settings(table(value, at), at.inner, {role: _role(role) for role in ROLES})  # type: ignore[return-value]


def _role(role: Role) -> Reader:
    readers = _ROLE if role == "judge" else {key: read for key, read in _ROLE.items() if key != "votes"}
    return lambda value, at: RoleConfig(**read_settings(table(value, at), at.inner, readers))


def _price(value: object, at: Place) -> Price:
    return Price(**read_settings(table(value, at), at.inner, _PRICE))


def _agents(value: object, at: Place) -> dict[str, AgentConfig]:
    return {agent_name(name, at): _agent(name, inner, at.inner(name)) for name, inner in table(value, at).items()}


def _agent(name: str, value: object, at: Place) -> AgentConfig:
    written = read_settings(table(value, at), at.inner, _AGENT)
    agent = AgentConfig(**{"kind": name if name in BACKENDS else COMMAND, **written})
    if name in BACKENDS and agent.kind != name:
        raise at.inner("kind").mistake(
            f"an agent called {name} is of the kind {name}, not {agent.kind}", "Give this agent another name."
        )
    if agent.kind == COMMAND:
        _refuse_bad_command(agent, at)
    elif agent.argv and agent.kind not in WITH_ARGV:
        raise at.inner("argv").mistake(
            f"agents of the kind {agent.kind} have no argv", f"Leave it out, or choose the kind {COMMAND}."
        )
    stray = [key for key in written if key in _OF_AN_ENDPOINT and agent.kind != ENDPOINT]
    if stray:
        raise at.inner(stray[0]).mistake(
            f"agents of the kind {agent.kind} have no {stray[0]}", f'It is for the kind {ENDPOINT}: kind = "{ENDPOINT}"'
        )
    if agent.operator_settings and agent.kind not in ISOLATED:
        kinds = ", ".join(ISOLATED)
        raise at.inner("operator_settings").mistake(
            f"agents of the kind {agent.kind} always load their own settings",
            f"Leave it out: it is for the kinds {kinds}.",
        )
    return agent


def _refuse_bad_command(agent: AgentConfig, at: Place) -> None:
    """Asked of the backend itself, now and not after an hour, when the agent is first needed."""
    try:
        backend(COMMAND, Settings(argv=agent.argv))
    except AotError as error:
        raise at.inner("argv").mistake(error.message, error.hint) from error


def _ship(value: object, at: Place) -> ShipSettings:
    return ShipSettings(**read_settings(table(value, at), at.inner, _SHIP))


def _phases(value: object, at: Place) -> dict[Phase, str]:
    return read_settings(table(value, at), at.inner, dict.fromkeys(PHASES, filled_text))  # type: ignore[return-value]


def _notify(value: object, at: Place) -> NotifySettings:
    return NotifySettings(**read_settings(table(value, at), at.inner, NOTIFY))


def _remote(value: object, at: Place) -> RemoteSettings:
    return RemoteSettings(**read_settings(table(value, at), at.inner, REMOTE))


def _worker(value: object, at: Place) -> WorkerSettings:
    return WorkerSettings(**read_settings(table(value, at), at.inner, WORKER))


def _telemetry(value: object, at: Place) -> TelemetrySettings:
    return TelemetrySettings(**read_settings(table(value, at), at.inner, TELEMETRY))


# --- the keys ----------------------------------------------------------------------------------------------------

_TIMEOUTS: Mapping[str, Reader] = MappingProxyType(
    {field.name: duration_or_none for field in msgspec.structs.fields(Limits)}
)

_PRICE: Mapping[str, Reader] = MappingProxyType(dict.fromkeys(Tokens.__struct_fields__, amount))

_ROLE: Mapping[str, Reader] = MappingProxyType(
    {
        "agent": agent_name,
        "model": filled_text,
        "timeouts": _timeouts,
        "instructions": filled_text,
        "votes": odd_number,
    }
)

_AGENT: Mapping[str, Reader] = MappingProxyType(
    {
        "kind": one_of(BACKENDS),
        "argv": arguments,
        "model": filled_text,
        "program": filled_text,
        "pass_env": list_of(variable),
        "operator_settings": switch,
        "timeouts": _timeouts,
        "fallback": list_of(agent_name),
        "price": _price,
        "max_sitting": positive_number,
        "roles": list_of(one_of(ROLES)),
        "prompt": one_of(STYLES),
        "base_url": address,
        "key": plain_variable,
        "temperature": temperature,
        "context": positive_number,
        "tools": tools,
        "queue": filled_text,
    }
)

_OF_AN_ENDPOINT = ("base_url", "key", "temperature", "context", "tools")
"""Keys that only agents of the kind `openai` have."""

_SHIP: Mapping[str, Reader] = MappingProxyType(
    {"test_command": filled_text, "test_timeout": duration, "commands": _phases}
)

KEYS: Mapping[str, Reader] = MappingProxyType(
    {
        "agent": agent_name,
        "isolation": one_of(ISOLATIONS),
        "confine": one_of(CONFINES),
        "sandbox": one_of(CHOICES),
        "network": hosts,
        "writable": list_of(folder),
        "fence_commands": switch,
        "worktrees": folder,
        "setup": filled_text,
        "copy": list_of(pattern),
        "link": list_of(pattern),
        "setup_inputs": list_of(pattern),
        "setup_timeout": duration,
        "check_timeout": duration,
        "pass_env": list_of(variable),
        "timeouts": _timeouts,
        "allow_dirty": switch,
        "fallback": list_of(agent_name),
        "patience": duration,
        "max_attempt_cost_usd": positive_amount,
        "max_sitting": positive_number,
        "max_journal_mb": positive_number,
        "roles": _roles,
        "agents": _agents,
        "ship": _ship,
    }
)

OWN_KEYS: Mapping[str, Reader] = MappingProxyType(
    {"notify": _notify, "telemetry": _telemetry, "remote": _remote, "worker": _worker}
)
"""Only the user's own file may have them: a repository does not decide what leaves this machine."""
