"""The identity of an objective: a verdict counts only for the objective that it judged."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aotloop.core.model import Atom, Loop, Objective, Verdict

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
"""A fixed value in place of the real limits. Files store the digests, so it never changes."""


def digest_of(objective: Objective) -> str:
    """A digest of the goal and its checks. The limits of a run do not change it."""
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, which most scripts never need

    data = msgspec.to_builtins(objective, str_keys=True) | {"constraints": _ANY_LIMITS}
    return sha256(msgspec.json.encode(data, order="deterministic")).hexdigest()[:16]


def fresh_verdict(loop: Loop, commit: str | None) -> Verdict | None:
    verdict = loop.control.verdict
    if verdict is None or verdict.outdated or verdict.commit != commit:
        return None
    return verdict if verdict.objective_digest == digest_of(loop.objective) else None


def outdate_verdict(loop: Loop, before: Atom, after: Atom) -> None:
    """Called for every atom that is replaced by another version."""
    verdict = loop.control.verdict
    is_touched = (before.status == "resolved") != (after.status == "resolved") or before.failures < after.failures
    if is_touched and verdict is not None and not verdict.outdated:
        loop.control = replace(loop.control, verdict=replace(verdict, outdated=True))
