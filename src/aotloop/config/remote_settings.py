"""Settings about other machines: where orders are sent, and what a worker of this machine accepts.

Only the user's own file may have them: a repository does not decide where its files are sent, or what is run here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from aotloop.config.values import Place, Reader, agent_name, duration, filled_text, folder, kind_of, list_of
from aotloop.config.values import positive_number as number

QUEUE = "aot"
LOCAL = "local"
"""No queue: checks run on this machine."""

NO_TIME = ("0", "0s")
"""Elsewhere no length of time; for a drain it means: at once."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class RemoteSettings(msgspec.Struct, frozen=True, kw_only=True):
    profile: str | None = None
    """The profile of Temporal's own configuration: address, namespace, TLS, API key. None: its default."""
    queue: str = QUEUE
    repository: str | None = None
    """The name under which workers know the repository; None: the name of its folder."""
    git: str | None = None
    """Where commits are pushed for workers; None: workers fetch from the repository itself."""
    key_file: str | None = None
    local: int = 0
    """The most attempts that this machine makes, too, where that ends first; with the isolation `remote`."""
    queues: dict[str, QueueSettings] = {}
    heartbeat: float = 120.0
    """Seconds without a sign of life after which an attempt is lost. Make it longer than a restart of the server."""
    first_sign: float = 15.0
    """Seconds within which a worker that got an order has to say so."""
    wait: float = 3600.0
    """Seconds that an order may wait for a free worker."""
    checks: str | None = None
    """The queue whose workers check merges, or `local`: this machine does. None: `queue` if all attempts go there."""


class QueueSettings(msgspec.Struct, frozen=True, kw_only=True):
    slots: int | None = None
    """The most attempts that this run has there at the same time; None: as many as there are."""


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    queue: str = QUEUE
    slots: int = 4
    home: str | None = None
    """None: in the user's data folder."""
    drain: float = 600.0
    """Seconds for running attempts after a request to end."""
    repositories: dict[str, str] = {}
    """Name → where it is fetched from. A worker accepts no other repository."""
    agents: tuple[str, ...] = ()
    """A worker accepts no other agents; `shell` is for commands."""
    checks: int = 1
    """The most checks of merges at the same time, besides attempts; 0: it makes none."""
    free_space: int = 1024
    """MiB on the disk below which nothing is accepted."""
    cache: int = 10240
    """MiB of its home above which a worker that starts removes mirrors that were not used lately."""


def repository_name(value: object, at: Place) -> str:
    name = filled_text(value, at)
    if not _NAME.fullmatch(name):
        raise at.mistake(f"{name[:50]!r} cannot be the name of a repository", "Use letters, digits, and . _ - .")
    return name


def _git_url(value: object, at: Place) -> str:
    url = filled_text(value, at)
    if url.startswith("-") or "::" in url:
        raise at.mistake("is not an address that git can fetch from")
    return url


def _repositories(value: object, at: Place) -> dict[str, str]:
    if not isinstance(value, dict):
        raise at.mistake(f"must be a table of names and addresses, and is {kind_of(value)}")
    return {repository_name(name, at): _git_url(url, at.inner(str(name))) for name, url in value.items()}


def _number_or_none(value: object, at: Place) -> int:
    return 0 if value == 0 and not isinstance(value, bool) else number(value, at)


def _queues(value: object, at: Place) -> dict[str, QueueSettings]:
    if not isinstance(value, dict):
        raise at.mistake(f"must be a table of queues, and is {kind_of(value)}")
    return {str(name): _queue(table, at.inner(str(name))) for name, table in value.items()}


def _queue(value: object, at: Place) -> QueueSettings:
    if not isinstance(value, dict):
        raise at.mistake(f"must be a table, and is {kind_of(value)}")
    for key in value:
        if key != "slots":
            raise at.inner(str(key)).mistake("is unknown", "A queue has `slots`.")
    return QueueSettings(slots=number(value["slots"], at.inner("slots")) if "slots" in value else None)


def _drain(value: object, at: Place) -> float:
    return 0.0 if str(value).strip() in NO_TIME else duration(value, at)


REMOTE: Mapping[str, Reader] = MappingProxyType(
    {
        "profile": filled_text,
        "queue": filled_text,
        "repository": repository_name,
        "git": _git_url,
        "key_file": folder,
        "local": _number_or_none,
        "queues": _queues,
        "heartbeat": duration,
        "first_sign": duration,
        "wait": duration,
        "checks": filled_text,
    }
)

WORKER: Mapping[str, Reader] = MappingProxyType(
    {
        "queue": filled_text,
        "slots": number,
        "home": folder,
        "drain": _drain,
        "repositories": _repositories,
        "agents": list_of(agent_name),
        "checks": _number_or_none,
        "free_space": number,
        "cache": number,
    }
)
