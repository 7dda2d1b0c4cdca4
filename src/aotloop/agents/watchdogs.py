"""When an attempt has taken too long, and in which sense: it never began, it fell silent, or it did not end."""

from __future__ import annotations

import msgspec

from aotloop.agents.contract import Limits

NEVER = float("inf")


class Expiry(msgspec.Struct, frozen=True):
    at: float
    """On the clock by which it was asked."""
    reason: str
    taught: bool = False
    """That the work takes too long says something about the work; silence does not."""


def next_expiry(limits: Limits, started: float, last_output: float | None) -> Expiry:
    """The first limit that will be passed if nothing more is printed."""
    expiries = [Expiry(NEVER, "")]
    if limits.total is not None:
        expiries.append(Expiry(started + limits.total, f"did not end within {limits.total:g} s", taught=True))
    if last_output is None and limits.start_up is not None:
        expiries.append(Expiry(started + limits.start_up, f"printed nothing within {limits.start_up:g} s of its start"))
    elif limits.inactivity is not None:
        since = started if last_output is None else last_output
        expiries.append(Expiry(since + limits.inactivity, f"printed nothing for {limits.inactivity:g} s"))
    return min(expiries, key=lambda one: one.at)
