"""Backends by name, each loaded when it is first asked for, and the settings that all of them share."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, cast

import msgspec

from aotloop.agents.attempt.usage import Price
from aotloop.agents.contract import Backend
from aotloop.agents.roles import Role, may_write
from aotloop.errors import Unavailable
from aotloop.extras import install_command


class EndpointSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Of the backend `openai`."""

    base_url: str | None = None
    """None: a server on this machine."""
    key: str | None = None
    """The name of the variable that holds the key, never the key."""
    temperature: float | None = None
    context: int | None = None
    """Tokens."""
    tools: Literal["auto", "yes", "no"] = "auto"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...] = ()
    """Of the backend `command`: the program and its arguments, with placeholders."""
    model: str | None = None
    """None: the client's own choice."""
    program: str | None = None
    """The client's program, by name or path; None: where it is usually found."""
    pass_env: tuple[str, ...] = ()
    """Names of variables to pass on besides those that every agent gets; `NAME*` for all that begin so."""
    operator_settings: bool = False
    """A worker's client loads the operator's own settings, hooks and servers, where it can tell them from others."""
    price: Price | None = None
    """Of its tokens, if a person has configured it."""
    endpoint: EndpointSettings = EndpointSettings()


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """What the backends of coding clients have in common."""

    model: str | None = None
    pass_env: tuple[str, ...] = ()
    operator_settings: bool = False
    price: Price | None = None

    def lends_settings(self, role: Role) -> bool:
        """Only a worker gets the operator's settings: they could widen the rights of other roles."""
        return self.operator_settings and may_write(role)


def of_client(settings: Settings) -> dict[str, Any]:
    return {
        "model": settings.model,
        "pass_env": settings.pass_env,
        "operator_settings": settings.operator_settings,
        "price": settings.price,
    }


BACKENDS: Mapping[str, str] = MappingProxyType(
    {
        "shell": "aotloop.agents.shell",
        "command": "aotloop.agents.command_backend",
        "claude": "aotloop.agents.claude.backend",
        "codex": "aotloop.agents.codex.backend",
        "opencode": "aotloop.agents.opencode.backend",
        "acp": "aotloop.agents.acp.backend",
        "openai": "aotloop.agents.openai.backend",
    }
)
"""Name → module; each has `make(settings) -> Backend`."""

EXTRAS: Mapping[str, str] = MappingProxyType({"claude": "claude-agent-sdk", "openai": "openai"})
"""Backends that can use a package → that package; the extra that installs it has the name of the backend."""


def backend(name: str, settings: Settings = Settings(), table: Mapping[str, str] = BACKENDS) -> Backend:  # noqa: B008
    module = table.get(name)
    if module is None:
        raise Unavailable(f"there is no agent backend {name!r}; there are: {', '.join(sorted(table))}")
    try:
        loaded = import_module(module)
    except ImportError as error:
        missing = error.name or "something"
        raise Unavailable(
            f"the agent backend {name!r} needs {missing}, which is not installed", hint=_how_to_get(missing, name)
        ) from error
    return cast("Backend", loaded.make(settings))


def _how_to_get(missing: str, name: str) -> str:
    if missing.partition(".")[0] in sys.stdlib_module_names:
        return f"It is a part of Python that this one was built without; use one that has {missing}."
    return f"Install it with: {install_command(name) if name in EXTRAS else f'pip install {missing}'}"
