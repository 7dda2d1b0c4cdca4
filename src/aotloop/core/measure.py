"""The measure of a loop: how many attempts it may still make. Every counted attempt makes it smaller.

Attempts are shared: each atom of the file adds its share, and any atom may use it. Atoms that the loop itself adds,
parts and repairs, add none. So only a person's correction makes the measure larger, and a loop halts within a number
that is known at its start. Stalls, iterations, time and money only end it earlier.
"""

from __future__ import annotations

from aotloop.core.limits import Limits, limits_of
from aotloop.core.model import Loop


def shares_of(loop: Loop) -> int:
    """Shares of a loop that starts now. Alternatives count; decomposed parents do not."""
    wholes = {split.parent for split in loop.decompositions}
    return max(sum(atom.repairs is None and atom.id not in wholes for atom in loop.atoms), 1)


def attempts_allowed(loop: Loop, limits: Limits | None = None) -> int:
    """All attempts of the loop. `limits`: the limits in force, if they differ from the file."""
    limits = limits if limits is not None else limits_of(loop.objective.constraints)
    if limits.max_total_attempts is not None:
        return limits.max_total_attempts
    shares = loop.control.shares
    return limits.attempts_per_atom * (shares if shares is not None else shares_of(loop))


def limit_after_retry(loop: Loop) -> int | None:
    """`max_total_attempts` after a person let an atom start again: enough for the share of one atom. None: not set."""
    limit = loop.objective.constraints.max_total_attempts
    if limit is None:
        return None
    share = max(limit // (loop.control.shares or shares_of(loop)), 1)
    return max(limit, loop.control.tried + share)


def attempts_left(loop: Loop, limits: Limits | None = None) -> int:
    """The highest number of attempts that are still made, unless a person corrects the loop."""
    return max(attempts_allowed(loop, limits) - loop.control.tried, 0)
