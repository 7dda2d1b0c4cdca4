"""Of what a client counts from the beginning of a conversation, an attempt pays what it added."""

from __future__ import annotations

from pathlib import Path

from aotloop.agents.attempt.usage import own_share
from aotloop.agents.contract import Done, Session, Sitting, Tokens
from tests.agents.assignments import an_assignment

BEFORE = Session(id="s", tokens=Tokens(input=10, output=4, cache_read=7), cost_usd=0.5, turns=3)
NOW = Done(summary="", tokens=Tokens(input=15, output=4, cache_read=9, cache_write=1), cost_usd=0.75, turns=5)


def test_without_a_sitting_nothing_is_subtracted_and_nothing_goes_on(tmp_path: Path) -> None:
    assert own_share(NOW, an_assignment(tmp_path), "s") == NOW


def test_a_new_conversation_is_paid_whole(tmp_path: Path) -> None:
    outcome = own_share(NOW, an_assignment(tmp_path, sitting=Sitting(store=tmp_path)), "s")
    assert (outcome.tokens, outcome.cost_usd, outcome.turns) == (NOW.tokens, 0.75, 5)
    assert outcome.session == Session(id="s", tokens=NOW.tokens, cost_usd=0.75, turns=5)


def test_who_goes_on_pays_the_difference_and_hands_on_the_whole(tmp_path: Path) -> None:
    sitting = Sitting(store=tmp_path, session=BEFORE)
    outcome = own_share(NOW, an_assignment(tmp_path, sitting=sitting), "s")
    assert outcome.tokens == Tokens(input=5, output=0, cache_read=2, cache_write=1)
    assert (outcome.cost_usd, outcome.turns) == (0.25, 2)
    assert outcome.session == Session(id="s", tokens=NOW.tokens, cost_usd=0.75, turns=5)


def test_a_client_that_counts_less_than_before_counts_anew(tmp_path: Path) -> None:
    sitting = Sitting(store=tmp_path, session=BEFORE)
    fewer = Done(summary="", tokens=Tokens(input=9, output=9), cost_usd=0.1)
    outcome = own_share(fewer, an_assignment(tmp_path, sitting=sitting), "s")
    assert (outcome.tokens, outcome.cost_usd) == (fewer.tokens, 0.1)


def test_what_nobody_counts_stays_unknown(tmp_path: Path) -> None:
    sitting = Sitting(store=tmp_path, session=BEFORE)
    outcome = own_share(Done(summary=""), an_assignment(tmp_path, sitting=sitting), None)
    assert (outcome.tokens, outcome.cost_usd, outcome.turns, outcome.session) == (None, None, None, None)
