"""The fence for commands that run in the checkout on behalf of a person or a session, as configured there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Required, TypedDict, Unpack

import msgspec

from aotloop.app.preflight.protected_files import changed_protected
from aotloop.checks.judge import Judge
from aotloop.checks.results import Report
from aotloop.core.checks.checklist import Node
from aotloop.errors import AotError
from aotloop.process.sandbox import Policy, is_possible
from aotloop.statefile.locate import project_root

if TYPE_CHECKING:
    from aotloop.checks.evaluation import Progress
    from aotloop.execution.isolation.place import Isolation
    from aotloop.execution.journals.journal import Journal
    from aotloop.fence.check_fence import Fence
    from aotloop.fence.checkout_witness import CheckoutWitness
    from aotloop.fence.observation import Observation
    from aotloop.statefile.store import Store


class FencedCheckout(msgspec.Struct, frozen=True):
    root: Path
    fence: Fence
    observation: Observation

    def report(self, tree: Node, **how: Unpack[How]) -> Report:
        """The results of these checks; undecided if their commands changed what they may not change."""
        from aotloop.checks.evaluation import evaluate  # noqa: PLC0415 - scripts start faster

        env, confinement = self.fence.env, self.fence.confinement
        work = partial(evaluate, tree, root=self.root, env=env, confinement=confinement, **how)
        return self.observation.of(self.root, work)


class How(TypedDict, total=False):
    timeout: Required[float]
    judge: Judge | None
    on_progress: Progress | None


@contextmanager
def fenced_checkout(state_file: str, protect: Sequence[str] = (), root: Path | None = None) -> Iterator[FencedCheckout]:
    """`state_file`: of a loop, or of a feature. `protect`: the globs that its objective protects."""
    from aotloop.fence.check_fence import checkout_confinement, fence_around  # noqa: PLC0415 - as above
    from aotloop.fence.checkout_witness import CheckoutWitness  # noqa: PLC0415 - as above
    from aotloop.fence.observation import Observation  # noqa: PLC0415 - as above

    root = root or Path(project_root(state_file))
    confinement = checkout_confinement(root, state_file, fence_of(root)) if is_possible() else None
    witness = CheckoutWitness(root, state_file, confinement)
    observation = Observation(witness=witness, protected=witness.protected(protect))
    with fence_around(confinement, variables_of(root)) as fence:
        yield FencedCheckout(root, fence, observation)


def witness_of_run(store: Store, places: Isolation, journal: Journal, fence: Policy | None) -> CheckoutWitness:
    """One witness for a whole run: it reports a change again at each verdict, until the change is undone."""
    from aotloop.fence.check_fence import checkout_confinement  # noqa: PLC0415 - as above
    from aotloop.fence.checkout_witness import CheckoutWitness, OwnRun  # noqa: PLC0415 - as above

    run = OwnRun(written=journal.written, is_stale=store.has_changed, objection=partial(changed_protected, store))
    known = places.branch.repository if places.branch is not None else None
    confinement = checkout_confinement(journal.root, store.path, fence)
    return CheckoutWitness(journal.root, store.path, confinement, run, known)


def fence_of(root: Path) -> Policy | None:
    """The person's decision about fences; None: no fence."""
    from aotloop.config.sources import load  # noqa: PLC0415 - as above

    try:
        return load(root).fence
    except AotError:
        return Policy()


def variables_of(root: Path) -> dict[str, str]:
    """What commands get in addition there, by the person's settings."""
    from aotloop.config.sources import load  # noqa: PLC0415 - as above

    try:
        return load(root).variables()
    except AotError:
        return {}
