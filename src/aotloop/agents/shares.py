"""What of a conversation's counts is one attempt's own: clients count from the beginning of the conversation."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import astuple, replace

from aotloop.agents.contract import Assignment, Outcome, Session, Tokens

Number = TypeVar("Number", int, float)


def own_share(outcome: Outcome, assignment: Assignment, session: str | None) -> Outcome:
    """`outcome` with the counts of the whole conversation becomes one with its own, and with what can go on.

    `session`: the client's name of the conversation; None if it told none.
    """
    sitting = assignment.sitting
    if sitting is None:
        return outcome
    kept = None
    if session is not None:
        kept = Session(id=session, tokens=outcome.tokens, cost_usd=outcome.cost_usd, turns=outcome.turns)
    before = sitting.session
    if before is None:
        return replace(outcome, session=kept)
    return replace(
        outcome,
        session=kept,
        tokens=tokens_since(before.tokens, outcome.tokens),
        cost_usd=_since(before.cost_usd, outcome.cost_usd),
        turns=_since(before.turns, outcome.turns),
    )


def tokens_since(before: Tokens | None, now: Tokens | None) -> Tokens | None:
    """A client that counts less than before has begun to count anew."""
    if before is None or now is None:
        return now
    fields = zip(astuple(now), astuple(before), strict=True)
    rest = [after - earlier for after, earlier in fields]
    return now if min(rest) < 0 else Tokens(**dict(zip(Tokens.__struct_fields__, rest, strict=True)))


def _since(before: Number | None, now: Number | None) -> Number | None:
    return now if before is None or now is None or now < before else now - before
