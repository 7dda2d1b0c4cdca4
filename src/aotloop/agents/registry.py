"""Backends by name. A backend is loaded when it is first asked for: who never uses it needs none of what it needs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import cast

from aotloop.agents.contract import Backend
from aotloop.agents.settings import Settings
from aotloop.errors import Unavailable

BACKENDS: Mapping[str, str] = MappingProxyType(
    {
        "shell": "aotloop.agents.shell",
        "command": "aotloop.agents.command",
        "claude": "aotloop.agents.claude",
        "codex": "aotloop.agents.codex",
        "opencode": "aotloop.agents.acp_opencode",
        "acp": "aotloop.agents.acp",
    }
)
"""Name → module; each has `make(settings) -> Backend`."""

EXTRAS: Mapping[str, str] = MappingProxyType({"claude": "claude-agent-sdk"})
"""Backends that can make use of a package → that package; the extra that brings it has the name of the backend."""


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
    wanted = f"'aotloop[{name}]'" if name in EXTRAS else missing
    return f"Install it with: pip install {wanted}"
