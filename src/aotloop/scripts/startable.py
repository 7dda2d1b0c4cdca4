"""What may start now, as part of an answer: so a coordinator need not ask for the state after each result."""

from __future__ import annotations

from typing import Any

from aotloop.app.session.situation import startable
from aotloop.statefile.store import Store


def start_now(store: Store) -> dict[str, Any]:
    """Nothing, if nothing may start."""
    found = startable(store.load())
    return {"start_now": found} if found else {}
