"""Probes: they run if a person marked the atom, an agent asked, or the price is below the expected saving.

A probe that says no saves the turn that its choice would have had. The price of a probe is unknown before the first one
has run. A "no" is evidence, not a verdict: it counts as one turn.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.effects import Effect
from aotloop.core.events import AttemptPaid
from aotloop.core.graph.board import Board
from aotloop.core.model import Prices
from aotloop.core.policy.turns import turn


def note_price(board: Board, event: AttemptPaid) -> list[Effect]:
    control, kind = board.loop.control, "probes" if event.role == "probe" else "attempts"
    prices = control.prices
    added = {
        kind: getattr(prices, kind) + 1,
        f"{kind}_usd": round(getattr(prices, f"{kind}_usd") + event.usd, 6),
        f"{kind}_seconds": round(getattr(prices, f"{kind}_seconds") + event.seconds, 3),
    }
    board.loop.control = replace(control, prices=replace(prices, **added))
    return []


def note_negative(board: Board) -> None:
    control = board.loop.control
    prices = replace(control.prices, negative=control.prices.negative + 1)
    board.loop.control = replace(control, prices=prices)


def probe_if_it_pays(board: Board, choice: str) -> None:
    atom = board.atoms[choice]
    is_unknown = atom.findings is None and not atom.failures and atom.status == "pending"
    can_be_probed = atom.run is None and choice not in board.children_of
    if is_unknown and can_be_probed and probing_pays(board.loop.control.prices, turn(board.loop)):
        board.put(replace(atom, probe=True))


def probing_pays(prices: Prices, saved_attempts: int) -> bool:
    """Whether a probe pays, from the share of "no" answers so far and the prices in money, otherwise in time."""
    price = _price(prices)
    chance = (prices.negative + 1) / (prices.probes + 2)
    return price is not None and price < chance * saved_attempts


def _price(prices: Prices) -> float | None:
    """The price of one probe, as a share of an attempt. None: unknown."""
    for unit in ("usd", "seconds"):
        probes, attempts = getattr(prices, f"probes_{unit}"), getattr(prices, f"attempts_{unit}")
        if probes > 0 and attempts > 0:
            return float(probes / prices.probes) / float(attempts / prices.attempts)
    return None
