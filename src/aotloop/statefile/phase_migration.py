"""Phase loops that others wrote, as we understand them: files of version 1, and loops that ended without saying so.

Version 1 knew no spec_test, so that a loop of it that is past `plan` has no acceptance tests, without which nothing is
ever completed. It goes back to where they are written; what it did before stays on record.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.phases.model import PHASES, VERSION, PhaseLoop
from aotloop.core.phases.moving import with_error

BEFORE_THE_TESTS = PHASES[: PHASES.index("spec_test")]


def migrated(loop: PhaseLoop) -> PhaseLoop:
    """No clock is read: what is noted here has the time of the last update."""
    is_older = loop.version < VERSION
    loop = replace(loop, version=VERSION)
    if "ship" in loop.phases_completed and loop.status == "running":
        return replace(loop, status="completed")  # its state was left behind; it does not begin again
    if is_older and loop.phase not in BEFORE_THE_TESTS:
        note = f"migrated from version 1 in {loop.phase}: the acceptance tests come first"
        loop = with_error(loop, note, loop.last_updated)
        return replace(
            loop,
            phase="spec_test",
            phase_iteration=0,
            fix_review_cycles=0,
            phase_started_at=None,
            phases_completed=tuple(one for one in loop.phases_completed if one in BEFORE_THE_TESTS),
            receipts=tuple(one for one in loop.receipts if one.phase in BEFORE_THE_TESTS),
        )
    return loop
