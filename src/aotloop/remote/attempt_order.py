"""Writes the order for a worker: the task without any path of this machine, and the commit where it starts."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

import msgspec

from aotloop.clock import unix_time
from aotloop.core.checks.checklist import is_decidable
from aotloop.errors import Unavailable
from aotloop.execution.attempts.maker import Order
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.protection import Protection
from aotloop.execution.isolation.place import Place, start_of
from aotloop.git.commits.transfer import publish
from aotloop.git.repository import Repository
from aotloop.git.worktrees.setup import Setup
from aotloop.remote.wire import SKEW, AttemptOrder, SetupOrder, written_check

_FILTERS = ("clean", "smudge", "process")


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for all orders of a run."""

    branch: Branch
    name: str
    """Of the repository, as workers know it."""
    url: str | None = None
    """Where commits are pushed for workers; None: workers fetch from the repository itself."""
    protection: Protection = Protection()
    setup: Setup = Setup()
    check_timeout: float = 120.0
    heartbeat: float = 120.0
    first_sign: float = 15.0
    wait: float = 3600.0
    published: set[str] = msgspec.field(default_factory=set)
    """Commits that workers can fetch by now."""
    publishing: threading.Lock = msgspec.field(default_factory=threading.Lock)

    @property
    def repository(self) -> Repository:
        return self.branch.repository

    def publish(self, commit: str) -> None:
        """Blocks. Raises Unavailable. One at a time: attempts that begin together start at the same commit."""
        with self.publishing:
            if commit not in self.published:
                publish(self.repository, commit, self.url)
                self.published.add(commit)

    def refuse(self) -> None:
        """Raises Unavailable for a project whose attempts cannot be made elsewhere."""
        if self.setup.copy or self.setup.link:
            raise Unavailable(
                "`copy` and `link` take files from this checkout, which a worker elsewhere does not have",
                hint="Use a `setup` command, which runs there; or make these attempts on this machine.",
            )
        settings = self.repository.settings
        found = [setting.key for setting in settings if setting.key.startswith("filter.") and setting.value]
        names = {key.rpartition(".")[0] for key in found if key.rpartition(".")[2] in _FILTERS} - {"filter.lfs"}
        if names:
            raise Unavailable(
                f"git's {', '.join(sorted(names))} converts files, which a worker elsewhere cannot do",
                hint="Make these attempts on this machine.",
            )


def written_order(offer: Offer, order: Order) -> AttemptOrder:
    """Blocks: the commits are published first, unless they were before. Raises Unavailable."""
    task, seat = order.task, order.seat
    base = order.base or offer.branch.head()
    if base is None:
        raise Unavailable("nothing is committed yet, and attempts elsewhere start from a commit")
    for commit in (base, order.start.commit if order.start is not None else None):
        if commit is not None:
            offer.publish(commit)
    return AttemptOrder(
        run_id=task.run_id,
        atom=task.name,
        attempt=task.number,
        epoch=task.epoch,
        role=task.role,
        description=task.description,
        repository=offer.name,
        base=base,
        prefix=offer.repository.prefix,
        start=order.start,
        agent=seat.agent,
        command=task.command,
        prompts=_prompts(order),
        results=task.results,
        limits=seat.limits,
        allowance=task.allowance,
        check=written_check(task.check) if task.check is not None and is_decidable(task.check) else None,
        check_timeout=offer.check_timeout,
        touches=task.touches,
        protection=offer.protection,
        setup=setup_order(offer.setup),
        nonce=secrets.token_hex(16),
        expires=unix_time() + offer.wait + SKEW,
    )


def setup_order(setup: Setup) -> SetupOrder:
    return SetupOrder(command=setup.command, inputs=setup.inputs, timeout=setup.timeout)


def _prompts(order: Order) -> dict[str, str]:
    """The worker finds out whether the work of an earlier attempt can be put into the folder."""
    task, seat = order.task, order.seat
    if task.command is not None:
        return {}
    kinds = (None, order.start) if order.start is not None else (None,)
    starts = [start_of(Place(cwd=Path(), kept=kept), in_place=False) for kept in kinds]
    return {start.folder: task.prompt(seat.instructions, start, seat.style) for start in starts}
