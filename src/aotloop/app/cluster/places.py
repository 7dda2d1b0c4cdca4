"""Where the settings let attempts be made and merges be checked: on this machine, or in queues of workers."""

from __future__ import annotations

from aotloop.config.remote_settings import LOCAL
from aotloop.config.schema import Config


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
