"""Begins what may start now, as part of an answer: a coordinator needs no call of its own for that.

All that a coordinator is told stays in its context, so the answer has nothing that is as usual.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from aotloop.app.atoms import start_atom
from aotloop.app.session.attempt_token import token_now
from aotloop.app.session.situation import startable
from aotloop.errors import AotError
from aotloop.statefile.store import Store


def begin_now(store: Store) -> dict[str, Any]:
    """Starts these atoms, as `update_atom … in_progress` does, with their tokens. Their agents are still missing."""
    begun: dict[str, dict[str, str]] = {}
    for atom, agent in startable(store.load()).items():
        with suppress(AotError):  # another process has started it, or a person wants to stop
            start_atom(store, atom)
            begun[atom] = {"agent": agent, "token": token_now(store, atom)}
    return {"begun": begun} if begun else {}


def unusual(told: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """Without what is as usual; the usual value None means: whatever it is."""
    return {key: value for key, value in told.items() if key not in usual or usual[key] not in (value, None)}
