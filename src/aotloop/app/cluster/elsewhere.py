"""Where the attempts of a run are made: on this machine, or by workers on others, as the user's settings say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aotloop.config.remote_settings import LOCAL
from aotloop.config.schema import Config
from aotloop.errors import Unavailable
from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.attempts.local_maker import LocalMaker
from aotloop.execution.attempts.maker import Brought, Lost, Maker, Order
from aotloop.execution.checker import Checker, Checks, LocalChecker
from aotloop.execution.integration.protection import Protection
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.verification import Verification
from aotloop.extras import install_command
from aotloop.git.commits.transfer import can_fetch

Found = tuple[str, str, bool | None]
"""Subject, result, and whether it is right; None: worth knowing."""

if TYPE_CHECKING:
    from aotloop.remote.attempt_order import Offer
    from aotloop.remote.attempt_placement import Lengths, Placement
    from aotloop.remote.link import Link


def missing_extra(error: ImportError) -> Unavailable:
    return Unavailable(
        f"attempts on other machines need {error.name}, which is not installed", hint=f"`{install_command('temporal')}`"
    )


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What the makers of a run need to know."""

    run_id: str
    isolation: Isolation
    protection: Protection
    records: Callable[[str, int], Path]
    on_output: Callable[[int, str], None]
    warn: Callable[[str], None] = lambda _: None
    """Tells the person of the run."""


def makers_of(config: Config, terms: Terms, state_file: Path, conversations: Conversations) -> Makers:
    local = LocalMaker(
        isolation=terms.isolation,
        records=terms.records,
        state_file=state_file,
        on_output=terms.on_output,
        conversations=conversations,
    )
    return Makers(config, local, terms)


class Makers:
    """The maker of this machine, and the one of others if the settings name a queue."""

    def __init__(self, config: Config, local: Maker, terms: Terms) -> None:
        self._config = config
        self._local = local
        self._elsewhere = _elsewhere(config, terms) if config.goes_elsewhere else None

    def make(self, order: Order) -> AbstractAsyncContextManager[Brought | Lost]:
        is_bound = self._config.queue_of(order.seat.agent) is None or order.task.inspect is not None
        if self._elsewhere is None or is_bound:
            return self._local.make(order)
        return self._placed(self._elsewhere, order)

    @asynccontextmanager
    async def _placed(self, elsewhere: _Elsewhere, order: Order) -> AsyncIterator[Brought | Lost]:
        task, agent, lengths = order.task, order.seat.agent, elsewhere.lengths
        places = places_of(self._config, agent)
        if elsewhere.link.has_sent(task):
            places = places[-1:]
        job = lengths.job(str(task.number), agent, task.estimate, places)
        async with elsewhere.placement.place(job) as place:
            began = time.monotonic()
            maker = self._local if place == LOCAL else elsewhere.maker
            async with maker.make(order) as brought:
                seconds = brought.outcome.seconds if isinstance(brought, Brought) else None
                elsewhere.placement.measured(place, job, time.monotonic() - began, seconds)
                if seconds is not None:
                    lengths.noted(agent, seconds / elsewhere.placement.pace(place))
                yield brought

    def checks(self, verification: Verification, isolation: Isolation, say: Callable[[str], None]) -> Checks:
        checker = self._elsewhere.checker if self._elsewhere is not None else None
        return Checks(LocalChecker(isolation, verification), checker, say)

    async def close(self) -> None:
        if self._elsewhere is not None:
            self._elsewhere.placement.close()
            await self._elsewhere.link.close()


class _Elsewhere(msgspec.Struct, frozen=True, kw_only=True):
    link: Link
    maker: Maker
    checker: Checker | None
    placement: Placement
    lengths: Lengths


def _elsewhere(config: Config, terms: Terms) -> _Elsewhere:
    """Raises Unavailable."""
    try:
        from aotloop.remote.attempt_placement import Lengths, Placement  # noqa: PLC0415
        from aotloop.remote.connection import connect, server_of  # noqa: PLC0415 - an extra
        from aotloop.remote.link import Link  # noqa: PLC0415
        from aotloop.remote.remote_checker import RemoteChecker  # noqa: PLC0415
        from aotloop.remote.remote_maker import RemoteMaker  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra(error) from None
    offer = _offer(config, terms)
    server_of(config.remote)
    attempts = terms.records("any", 1).parent
    link = Link(connect=partial(connect, config.remote), run_id=terms.run_id, attempts=attempts)
    maker = RemoteMaker(
        link=link,
        offer=offer,
        queue_of=config.queue_of,
        records=terms.records,
        on_output=terms.on_output,
        warn=terms.warn,
    )
    checker = None
    if (queue := check_queue_of(config)) is not None:
        checker = RemoteChecker(link=link, offer=offer, run_id=terms.run_id, queue=queue, records=terms.records)
    placement = Placement(slots_of_places(config), link.takers)
    return _Elsewhere(link=link, maker=maker, checker=checker, placement=placement, lengths=Lengths())


def _offer(config: Config, terms: Terms) -> Offer:
    from aotloop.remote.attempt_order import Offer  # noqa: PLC0415 - an extra

    branch, settings = terms.isolation.branch, config.remote
    if branch is None:
        raise Unavailable(
            "attempts on other machines need a git repository, and `isolation` is none here",
            hint='Set isolation = "remote" in ~/.config/aotloop/config.toml.',
        )
    offer = Offer(
        branch=branch,
        name=settings.repository or branch.repository.top.name,
        url=settings.git,
        protection=terms.protection,
        setup=config.worktree_setup,
        check_timeout=config.check_timeout,
        heartbeat=settings.heartbeat,
        first_sign=settings.first_sign,
        wait=settings.wait,
    )
    offer.refuse()
    return offer


def remote_findings(config: Config) -> Iterator[Found]:
    """Whether workers can be used from here, for `aot doctor`. Nothing, if the settings send no attempt elsewhere."""
    if not config.goes_elsewhere:
        return
    try:
        from aotloop.remote.server_report import server_findings  # noqa: PLC0415 - an extra
    except ImportError as error:
        yield ("extra temporal", f"{error.name} is not installed: `{install_command('temporal')}`", False)
        return
    yield from asyncio.run(server_findings(config.remote, queues_of(config)))
    if config.remote.git is not None:
        problem = can_fetch(config.remote.git)
        yield ("git address", problem or "it can be reached", problem is None)  # it may hold a password


def places_of(config: Config, agent: str) -> tuple[str, ...]:
    """Where attempts with this agent can be made: a queue comes last, and `local` is this machine.

    The queue of an agent names the machines that have it; this machine can do only what any worker can.
    """
    queue = config.queue_of(agent)
    if queue is None:
        return (LOCAL,)
    known = config.agents.get(agent)
    has_own = known is not None and known.queue is not None
    return (queue,) if has_own or not config.remote.local else (LOCAL, queue)


def queues_of(config: Config) -> tuple[str, ...]:
    """All that attempts of a run may go to."""
    found = [agent.queue for agent in config.agents.values() if agent.queue is not None]
    if config.isolation == "remote":
        found.append(config.remote.queue)
    return tuple(dict.fromkeys(found))


def slots_of_places(config: Config) -> dict[str, int | None]:
    """The most attempts of a run at the same time; None: as many as there are."""
    known = config.remote.queues
    slots: dict[str, int | None] = {LOCAL: config.remote.local if config.isolation == "remote" else None}
    for queue in queues_of(config):
        slots[queue] = known[queue].slots if queue in known else None
    return slots


def check_queue_of(config: Config) -> str | None:
    """The queue of the workers that check merges; None: this machine checks them."""
    wanted = config.remote.checks or (config.remote.queue if config.isolation == "remote" else LOCAL)
    return wanted if config.goes_elsewhere and wanted != LOCAL else None
