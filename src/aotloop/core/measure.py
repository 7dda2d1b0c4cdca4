"""How much can still happen, at most: a number that every counted attempt makes smaller.

The measure of a loop is the attempts that it may still make. Attempts are pooled: each atom of the file brings its
share, which any atom may use; atoms that the loop itself adds, parts and repairs, bring none. So nothing but a
person's correction makes it larger, and a loop halts within a number that is known when it starts. Stalls, iterations,
time and money only end it earlier.
"""

from __future__ import annotations

from aotloop.core.limits import Limits, limits_of
from aotloop.core.model import Loop


def shares_of(loop: Loop) -> int:
    """Of a loop that starts now: alternatives count, wholes that were decomposed do not."""
    wholes = {split.parent for split in loop.decompositions}
    return max(sum(atom.repairs is None and atom.id not in wholes for atom in loop.atoms), 1)


def attempts_allowed(loop: Loop, limits: Limits | None = None) -> int:
    """In all. `limits`: those in force, if they are not the file's."""
    limits = limits if limits is not None else limits_of(loop.objective.constraints)
    if limits.max_total_attempts is not None:
        return limits.max_total_attempts
    shares = loop.control.shares
    return limits.attempts_per_atom * (shares if shares is not None else shares_of(loop))


def attempts_left(loop: Loop, limits: Limits | None = None) -> int:
    """No more attempts than this are made, unless a person corrects the loop."""
    return max(attempts_allowed(loop, limits) - loop.control.tried, 0)
