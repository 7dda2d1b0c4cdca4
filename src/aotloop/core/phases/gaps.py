"""Gaps of a shipped feature: phases that were left by force, and what the person skipped. "Shipped" always names them.

A skip is as good a reason for a look as force is: both leave something unproven. So both have the same exit code.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aotloop.core.phases.model import PHASES, PhaseLoop
from aotloop.core.phases.promise import forced_phases

REVIEW_OF_TESTS = "a person's look at the acceptance tests"


class Gaps(msgspec.Struct, frozen=True, kw_only=True):
    forced: tuple[str, ...] = ()
    """Phases without a receipt, in their order."""
    skipped: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        return not self.forced and not self.skipped


def gaps_of(loop: PhaseLoop) -> Gaps:
    forced = forced_phases(loop)
    is_brainstorm_skipped = loop.skip_brainstorm and "brainstorm" not in loop.phases_completed
    skipped = {"brainstorm": is_brainstorm_skipped, REVIEW_OF_TESTS: loop.skip_test_review}
    return Gaps(
        forced=tuple(phase for phase in PHASES if phase in forced),
        skipped=tuple(what for what, is_skipped in skipped.items() if is_skipped),
    )


def proof_in_words(forced: Sequence[str], skipped: Sequence[str]) -> str:
    """What is proven about a feature that is shipped. It never sounds better than it is."""
    proof = "every other receipt holds" if forced else "every receipt holds"
    left = f"; left by force: {', '.join(forced)}" if forced else ""
    without = f"; skipped: {', '.join(skipped)}" if skipped else ""
    return f"{proof}, and the acceptance tests pass{left}{without}"
