"""Telling one objective from another: a verdict counts only for the objective it judged."""

from __future__ import annotations

import msgspec

from aotloop.core.model import Objective

_ANY_LIMITS = {
    "max_iterations": 20,
    "max_parallel_agents": 3,
    "max_stall_count": 3,
    "max_attempts": 2,
    "max_depth": 3,
    "max_children": 8,
    "max_cost_usd": None,
    "max_runtime": None,
    "verify_each_iteration": False,
}
"""Stands for whatever the limits are. Digests are kept in files, so it never changes."""


def digest_of(objective: Objective) -> str:
    """Of all that says what is wanted and when it is done; limits on the way there do not change that."""
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, which most scripts never need

    data = msgspec.to_builtins(objective, str_keys=True) | {"constraints": _ANY_LIMITS}
    return sha256(msgspec.json.encode(data, order="deterministic")).hexdigest()[:16]
