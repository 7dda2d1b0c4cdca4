"""Keys in which a project's file can only ask for less than the person permits. What it asks beyond that has no effect.

A fence, a budget and the reach of the network protect the person from the project, so the project cannot widen them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from aotloop.process.sandbox.fence import Choice, Network

_STRENGTH: Mapping[Choice, int] = MappingProxyType({"off": 0, "landlock": 1, "auto": 2, "bwrap": 3, "srt": 3})


def tightened(person: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all these keys that are set anywhere."""
    found = {}
    for key, (usual, join) in RESTRICTIONS.items():
        if key in person or key in project:
            mine = person.get(key, usual)
            found[key] = join(mine, project[key]) if key in project else mine
    return found


def _sandbox(mine: Choice, theirs: Choice) -> Choice:
    return theirs if _STRENGTH[theirs] > _STRENGTH[mine] else mine


def _network(mine: Network, theirs: Network) -> Network:
    if theirs == "all" or mine == "none":
        return mine
    if mine == "all" or theirs == "none":
        return theirs
    return tuple(host for host in mine if host in theirs) or "none"


def _money(mine: float | None, theirs: float) -> float:
    return theirs if mine is None else min(mine, theirs)


RESTRICTIONS: Mapping[str, tuple[Any, Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        "sandbox": ("auto", _sandbox),
        "network": ("all", _network),
        "writable": ((), lambda mine, _: mine),
        "pass_env": ((), lambda mine, _: mine),
        "fence_commands": (True, lambda mine, theirs: mine or theirs),
        "max_attempt_cost_usd": (None, _money),
    }
)
"""By key: the value without any setting, and how the two are joined."""
