"""Errors of a service and what they mean: wait, or give up and say what a person can do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from aotloop.agents.contract import Cause, Crashed, Failed, MustWait, Outcome
from aotloop.text.shorten import one_line

_STATUSES: Mapping[int, Cause] = MappingProxyType(
    {401: "auth", 402: "quota", 403: "auth", 413: "too_long", 429: "rate_limit", 503: "overload", 529: "overload"}
)

_WORDS: tuple[tuple[Cause, str], ...] = (
    ("rate_limit", r"usage limit|usage_limit"),
    ("quota", r"quota|billing|credit balance|insufficient (funds|balance)"),
    (
        "too_long",
        r"context.?(length|window|size)|context the overflows|too long|too large|ContextOverflow|tokens.*must be <=",
    ),
    ("refusal", r"content.?filter|refus(al|ed to)"),
    ("rate_limit", r"rate.?limit|\b429\b|too many requests"),
    ("auth", r"\b40[13]\b|unauthori[sz]ed|api.?key|authenticat|missing environment variable|log ?in\b|credential"),
    ("overload", r"overload|at capacity|high demand|\b5[02][39]\b"),
    ("outage", r"\b5\d\d\b|server error|disconnect|connection|network|time.?out|ECONN|fetch failed|unavailable"),
)
"""The first match counts: a 429 that waiting does not solve says so in words."""

_WORDS_FIRST = (("rate_limit", "quota"), ("outage", "too_long"))
"""What the status says → what the words say, if the words are right: waiting solves neither."""

_WAIT = re.compile(r"(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)? ?[a-z]+,? ?)+)", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|m|h|d)", re.IGNORECASE)
_LONGEST_WAIT = 366 * 86400.0
"""Seconds; the digits are bounded, because endless digits are no number."""
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


_PAY = "Add credit or raise the limit where the account is kept, or use another account."


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    words: str
    cause: Cause | None = None
    retry_after: float | None = None


def trouble(words: str, status: int | None = None, retry_after: float | None = None) -> Trouble:
    cause = next((cause for cause, pattern in _WORDS if re.search(pattern, words, re.IGNORECASE)), None)
    kind = _STATUSES.get(status) if status is not None else None
    if status is not None and kind is None and status >= 500:
        kind = "outage"
    if kind is not None and (kind, cause) not in _WORDS_FIRST:
        cause = kind
    after = retry_after if retry_after is not None else _wait_in(words)
    return Trouble(words=one_line(words, 600), cause=cause, retry_after=after)


def outcome_of_trouble(met: Trouble, remedy: str) -> Outcome:
    """`remedy`: how a person gives this client access."""
    match met.cause:
        case "rate_limit" | "overload" | "outage":
            return MustWait(reason=met.words, retry_after=met.retry_after, cause=met.cause)
        case "auth":
            return Failed(reason=f"{met.words}\n{remedy}", cause=met.cause)
        case "quota":
            return Failed(reason=f"{met.words}\n{_PAY} {remedy}", cause=met.cause)
        case "refusal":
            return Failed(reason=": ".join(filter(None, ("the model refuses", met.words))), cause=met.cause)
        case "too_long" | "budget":
            return Failed(reason=met.words, cause=met.cause, taught=True)
        case _:
            return Crashed(reason=met.words, cause=met.cause)


def _wait_in(words: str) -> float | None:
    match = _WAIT.search(words)
    parts = _PART.findall(match[1]) if match is not None else []
    return min(sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts), _LONGEST_WAIT) if parts else None
