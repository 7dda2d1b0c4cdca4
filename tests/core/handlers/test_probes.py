"""A probe is bought only when it is asked for, or when it should save more than it costs."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.events import AttemptPaid, BranchSwitched
from aotloop.core.handlers.probes import probing_pays
from aotloop.core.machine import advance
from aotloop.core.model import Decomposition, Loop, Prices
from tests.loops import a_loop, atom

CHEAP = Prices(attempts=10, attempts_usd=10.0, probes=1, probes_usd=0.1)
"""A probe costs a tenth of an attempt."""


def test_what_attempts_and_probes_cost_is_added_up_apart() -> None:
    loop = a_loop(atom("A1"))
    for paid in (
        AttemptPaid(role="worker", usd=0.5, seconds=60.0),
        AttemptPaid(role="worker", usd=0.25),
        AttemptPaid(role="probe", usd=0.1234567, seconds=1.23456),
        AttemptPaid(role="worker", seconds=30.0),
        AttemptPaid(role="probe"),
    ):
        assert advance(loop, paid) == []
    assert loop.control.prices == Prices(
        attempts=3,
        attempts_usd=0.75,
        attempts_seconds=90.0,
        probes=2,
        probes_usd=0.123457,
        probes_seconds=1.235,
    )
    assert loop.control.cost_usd == 0, "the sums of the loop are told by another event"


def prices(**more: Any) -> Prices:
    return Prices(attempts=2, probes=2, **more)


@pytest.mark.parametrize(
    ("known", "saved", "pays"),
    [
        (Prices(), 9, False),  # nothing is known
        (Prices(attempts=2, attempts_usd=2.0), 9, False),  # nobody knows what a probe costs
        (Prices(probes=2, probes_usd=2.0), 9, False),
        (prices(attempts_usd=2.0, probes_usd=0.98), 2, True),  # 0.49 against a chance of 1 in 4, of two attempts
        (prices(attempts_usd=2.0, probes_usd=1.0), 2, False),  # no more than it saves is not enough
        (prices(attempts_usd=2.0, probes_usd=1.0, negative=1), 2, True),  # 2 in 4
        (prices(attempts_usd=2.0, probes_usd=0.5), 1, False),
        (prices(attempts_usd=2.0, probes_usd=0.5), 2, True),
        (prices(attempts_seconds=200.0, probes_seconds=90.0), 2, True),  # in time, where no money is known
        (prices(attempts_seconds=200.0, probes_seconds=110.0), 2, False),
        (prices(attempts_usd=2.0, probes_usd=1.9, attempts_seconds=200.0, probes_seconds=1.0), 2, False),
        (prices(attempts_usd=2.0, attempts_seconds=200.0, probes_seconds=1.0), 2, True),
    ],
)
def test_a_probe_pays_if_it_costs_less_than_the_attempts_that_a_no_would_save(
    known: Prices, saved: int, pays: bool
) -> None:
    assert probing_pays(known, saved) is pays


def switched(known: Prices = CHEAP, **y: Any) -> Loop:
    """X gave way to Y."""
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g", **y), atom("C"))
    loop.control = replace(loop.control, prices=known)
    advance(loop, BranchSwitched(or_group="g", choice="Y", reason="too slow", at="noon"))
    return loop


def test_a_choice_that_is_taken_is_probed_first_where_that_pays() -> None:
    assert switched().atoms[1].probe
    assert not switched(Prices()).atoms[1].probe
    assert not switched(replace(CHEAP, probes_usd=2.0)).atoms[1].probe


@pytest.mark.parametrize(
    "known", [{"findings": "seen"}, {"failures": 1}, {"status": "resolved"}, {"run": "make"}], ids=str
)
def test_what_is_known_already_or_a_command_is_not_probed(known: dict[str, Any]) -> None:
    assert not switched(**known).atoms[1].probe


def test_a_choice_in_parts_is_not_probed() -> None:
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g"), atom("C"),
        decompositions=[Decomposition(parent="Y", children=("C",), reason="parts")],
    )  # fmt: skip
    loop.control = replace(loop.control, prices=CHEAP)
    advance(loop, BranchSwitched(or_group="g", choice="Y", reason="too slow", at="noon"))
    assert not loop.atoms[1].probe


def test_the_length_of_a_turn_is_what_a_no_saves() -> None:
    dear = Prices(attempts=10, attempts_usd=10.0, probes=1, probes_usd=0.5)  # against a chance of 1 in 3
    for won, needed, pays in ((0, 0, True), (3, 3, False)):
        loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"))
        loop.control = replace(loop.control, prices=dear, won=won, needed=needed)
        advance(loop, BranchSwitched(or_group="g", choice="Y", reason="too slow", at="noon"))
        assert loop.atoms[1].probe is pays
