"""Run coding agents in a loop that halts and converges.

The public interface is what `__all__` names. Everything is imported when it is first asked for: most of what starts
Python for aotloop needs little of it, and starts often.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aotloop.checks.evaluation import evaluate
    from aotloop.core.graph.work_graph import Graph
    from aotloop.core.machine import advance
    from aotloop.core.model import Loop
    from aotloop.errors import AotError
    from aotloop.statefile.locate import find_state_file
    from aotloop.statefile.reader import decode, examine
    from aotloop.statefile.store import Store

__all__ = ["AotError", "Graph", "Loop", "Store", "advance", "decode", "evaluate", "examine", "find_state_file"]

_HOMES = {
    "AotError": "errors",
    "Graph": "core.graph.work_graph",
    "Loop": "core.model",
    "Store": "statefile.store",
    "advance": "core.machine",
    "decode": "statefile.reader",
    "evaluate": "checks.evaluation",
    "examine": "statefile.reader",
    "find_state_file": "statefile.locate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
