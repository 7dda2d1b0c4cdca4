"""How much a loop may cost is asked for once: what cannot be done is tried for a while, and that costs money, too."""

from __future__ import annotations

from math import ceil

from msgspec.structs import replace

from aotloop.alignment.draft import Draft
from aotloop.alignment.shape import shape_of
from aotloop.cli.asking import ask
from aotloop.cli.output import counted, heading, tell
from aotloop.core.measure import attempts_allowed, shares_of
from aotloop.core.model import Constraints, Loop

USUAL_USD = 1.0
"""What an attempt may cost; a guess, until attempts of this loop have told."""
USUAL_ATTEMPTS = 3
"""For each atom: some succeed at once, some need more."""


def ask_budget(draft: Draft, before: Loop | None) -> Draft:
    """Nothing is asked if it was said already, or if commands do all of the work."""
    constraints = draft.constraints if draft.constraints is not None else Constraints()
    if constraints.max_cost_usd is not None or (draft.atoms and all(atom.run is not None for atom in draft.atoms)):
        return draft
    proposed, why = _proposal(draft, before)
    tell("How many dollars may it cost at most?", style=heading, err=True)
    tell(f"A proposal: {proposed} ({why})", head="  ", err=True)
    while answer := ask("(Enter: no limit) >").removeprefix("$"):
        try:
            amount = float(answer)
        except ValueError:
            amount = 0.0
        if 0 < amount < float("inf"):
            return replace(draft, constraints=replace(constraints, max_cost_usd=amount))
        tell(f"{answer} is not an amount of money. A number, or Enter.", err=True)
    return draft


def _proposal(draft: Draft, before: Loop | None) -> tuple[int, str]:
    """An amount, and how it comes about."""
    loop = shape_of(draft, before).loop
    each, by = USUAL_USD, "a guess"
    prices = before.control.prices if before is not None else None
    if prices is not None and prices.attempts and prices.attempts_usd:
        each, by = prices.attempts_usd / prices.attempts, "as attempts of this loop have cost"
    shares, most = shares_of(loop), attempts_allowed(loop)
    attempts = min(USUAL_ATTEMPTS * shares, most)
    why = f"{attempts} attempts at {counted(shares, 'atom')}, ${each:.2f} each, {by}; at most {most} are made"
    return max(1, ceil(attempts * each)), why
