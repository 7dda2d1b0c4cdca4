"""Where the attempts of a run are made: on this machine, or by workers on others, as the user's settings say."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aotloop.config.schema import Config
from aotloop.errors import Unavailable
from aotloop.execution.conversation import Conversations
from aotloop.execution.integration.protection import Protection
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.local_maker import LocalMaker
from aotloop.execution.maker import Brought, Lost, Maker, Order

if TYPE_CHECKING:
    from aotloop.remote.remote_maker import RemoteMaker

INSTALL = "pip install 'aotloop[temporal]'"


def missing_extra(error: ImportError) -> Unavailable:
    return Unavailable(f"attempts on other machines need {error.name}, which is not installed", hint=f"`{INSTALL}`")


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What the makers of a run need to know."""

    run_id: str
    isolation: Isolation
    protection: Protection
    records: Callable[[str, int], Path]
    on_output: Callable[[int, str], None]


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
        self._remote = _remote(config, terms) if config.goes_elsewhere else None

    def make(self, order: Order) -> AbstractAsyncContextManager[Brought | Lost]:
        is_elsewhere = self._config.queue_of(order.seat.agent) is not None and order.task.inspect is None
        return (self._remote if is_elsewhere and self._remote is not None else self._local).make(order)

    async def close(self) -> None:
        if self._remote is not None:
            await self._remote.close()


def _remote(config: Config, terms: Terms) -> RemoteMaker:
    """Raises Unavailable."""
    try:
        from aotloop.remote.attempt_order import Offer  # noqa: PLC0415
        from aotloop.remote.connection import connect, server_of  # noqa: PLC0415 - an extra
        from aotloop.remote.remote_maker import RemoteMaker  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra(error) from None
    branch, settings = terms.isolation.branch, config.remote
    if branch is None:
        raise Unavailable(
            "attempts on other machines need a git repository, and `isolation` is none here",
            hint='Set isolation = "remote" in ~/.config/aotloop/config.toml.',
        )
    server_of(settings)
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
    return RemoteMaker(
        connect=partial(connect, settings),
        offer=offer,
        run_id=terms.run_id,
        queue_of=config.queue_of,
        records=terms.records,
        on_output=terms.on_output,
    )
