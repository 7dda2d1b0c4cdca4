"""Whether workers on other machines can be used from here, for `aot doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from aotloop.app.elsewhere import INSTALL
from aotloop.config.schema import Config
from aotloop.git.transfer import can_fetch

Found = tuple[str, str, bool | None]
"""What, what was found, and whether it is right; None: worth knowing."""


def remote_findings(config: Config) -> Iterator[Found]:
    """Nothing, if the settings send no attempt elsewhere."""
    if not config.goes_elsewhere:
        return
    try:
        from aotloop.remote.server_report import server_findings  # noqa: PLC0415 - an extra
    except ImportError as error:
        yield ("extra temporal", f"{error.name} is not installed: `{INSTALL}`", False)
        return
    queues = [agent.queue for agent in config.agents.values() if agent.queue is not None]
    if config.isolation == "remote":
        queues.append(config.remote.queue)
    yield from asyncio.run(server_findings(config.remote, queues))
    if config.remote.git is not None:
        problem = can_fetch(config.remote.git)
        yield ("git address", problem or f"{config.remote.git} can be reached", problem is None)
