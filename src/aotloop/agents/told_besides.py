"""What a program of the kind `command` may add to its answer: what it used, and why it could not do its part.

    {"success": false, "reason": "…", "cause": "rate_limit", "retry_after": 90,
     "usage": {"cost_usd": 0.12, "input": 900, "output": 80, "cache_read": 0, "cache_write": 0, "turns": 3}}

What does not fit is left out, with a note: it is no reason to throw work away.
"""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Cause, Failed, MustWait, Outcome, Tokens

_CAUSES = tuple(one for one in get_args(Cause) if one != "no_session")  # a program has none to go on with
_PASSING = ("rate_limit", "overload", "outage")


class _Usage(msgspec.Struct, frozen=True, kw_only=True):
    cost_usd: float | None = None
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    turns: int | None = None

    def __post_init__(self) -> None:
        if any(not math.isfinite(value) or value < 0 for value in msgspec.structs.astuple(self) if value is not None):
            raise ValueError("a number is less than nothing, or no number")


def with_what_is_told_besides(outcome: Outcome, answer: str) -> Outcome:
    """`answer` is the JSON from which the outcome was read."""
    told = _decoded(answer)
    return _with_usage(_with_cause(outcome, told), told)


def _decoded(answer: str) -> dict[str, Any]:
    try:
        told = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _with_cause(outcome: Outcome, told: dict[str, Any]) -> Outcome:
    """Only of what failed: who succeeds had no trouble."""
    cause, after = told.get("cause"), told.get("retry_after")
    if not isinstance(outcome, Failed) or cause is None:
        return outcome
    if cause not in _CAUSES:
        return replace(outcome, notes=(*outcome.notes, f"its cause is none of: {', '.join(_CAUSES)}"))
    if cause not in _PASSING:
        return replace(outcome, cause=cause)
    seconds = after if isinstance(after, int | float) and not isinstance(after, bool) and math.isfinite(after) else None
    return MustWait(reason=outcome.reason, retry_after=seconds, cause=cause, notes=outcome.notes)


def _with_usage(outcome: Outcome, told: dict[str, Any]) -> Outcome:
    if told.get("usage") is None:
        return outcome
    try:
        usage = msgspec.convert(told["usage"], _Usage)
    except (msgspec.ValidationError, ValueError):
        return replace(outcome, notes=(*outcome.notes, "what it says of its usage makes no sense, and was left out"))
    counts = {kind: getattr(usage, kind) for kind in Tokens.__struct_fields__}
    tokens = Tokens(**counts) if any(counts.values()) else None
    return replace(outcome, cost_usd=usage.cost_usd, tokens=tokens, turns=usage.turns)
