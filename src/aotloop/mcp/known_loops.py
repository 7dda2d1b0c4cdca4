"""Which loop a tool is about, and how its answer leaves: as data, without secrets, and never endless."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import msgspec
from mcp.server.mcpserver.exceptions import ResourceError, ToolError

from aotloop.app.loops import open_store
from aotloop.app.overview.loop_registry import known_loop
from aotloop.app.report.report_facts import known_secrets
from aotloop.errors import AotError, refusal
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.sanitize import plain
from aotloop.text.secrets import Secrets
from aotloop.text.shorten import cut

LONGEST = 20_000
"""Characters of one text in an answer."""

P = ParamSpec("P")
R = TypeVar("R")


class KnownLoops:
    """`state_file`: the loop that is meant if none is named; None: the loop of the current folder."""

    def __init__(self, state_file: str | None) -> None:
        self._state_file = state_file

    def store(self, key: str) -> Store:
        """Raises AotError. `key`: as `list_loops` tells it; empty: the loop of this server."""
        if not key:
            return open_store(self._state_file)
        known = known_loop(key)
        if known is None or known.kind != "loop":
            raise AotError(f"there is no loop {key}", hint="`list_loops` tells the keys.")
        return Store(known.path)


def answer(store: Store | None, value: Any) -> dict[str, Any]:
    """A value of a use case, as data for a client."""
    secrets = known_secrets(Path(project_root(store.path)) if store is not None else Path())
    data = _clean(msgspec.to_builtins(value), secrets)
    return data if isinstance(data, dict) else {"result": data}


def clean_text(store: Store, text: str, most: int = 1 << 20) -> str:
    return cut(known_secrets(Path(project_root(store.path))).hidden(text), most)


def _clean(value: Any, secrets: Secrets) -> Any:
    match value:
        case str():
            return cut(secrets.hidden(plain(value[: 4 * LONGEST])), LONGEST)
        case dict():
            return {secrets.hidden(str(name)): _clean(inner, secrets) for name, inner in value.items()}
        case list() | tuple():
            return [_clean(inner, secrets) for inner in value]
        case _:
            return value


def told(function: Callable[P, R]) -> Callable[P, R]:
    """What a user can cause is an answer, never a traceback."""

    @wraps(function)
    def wrapped(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except (AotError, OSError) as problem:
            raise ToolError(_problem(problem)) from None

    return wrapped


def read(function: Callable[P, R]) -> Callable[P, R]:
    """The same, of a resource."""

    @wraps(function)
    def wrapped(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except (AotError, OSError) as problem:
            raise ResourceError(_problem(problem)) from None

    return wrapped


def _problem(problem: AotError | OSError) -> str:
    """An error quotes files and arguments, so it is no safer than an answer."""
    return str(_clean(str(refusal(problem)), known_secrets(Path())))
