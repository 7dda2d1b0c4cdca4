"""The observation of checks: if they changed what they may not change, their result is undecided."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from aotloop.checks.results import Report, doubted
from aotloop.fence.checkout_witness import CheckoutWitness, remedy_for
from aotloop.fence.protected_watch import Protected, watched

CHECKOUT = "the checkout"
"""The item of a report that says what was changed."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    witness: CheckoutWitness | None = None
    """None: the checks run in a tree of ours."""
    protected: Protected | None = None

    def of(self, root: Path, evaluate: Callable[[], Report]) -> Report:
        """`root`: the folder of the project in which the checks run."""
        began = self.witness.begin() if self.witness is not None else None
        with watched(root, self.protected) as watch:
            report = evaluate()
        changed = watch.changes() if watch is not None else []
        if self.witness is not None and began is not None:
            changed += [path for path in self.witness.changes(began) if path not in changed]
        return doubted(report, CHECKOUT, remedy_for(changed)) if changed else report


UNOBSERVED = Observation()
