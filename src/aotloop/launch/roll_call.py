"""Who is there when a run begins: every client that will be used is asked for its version, all at the same time.

It is bounded in time, costs nothing, and stops no run: what keeps one from starting is refused before (`admission`).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from aotloop.agents.contract import Backend, Capabilities
from aotloop.agents.presence import Presence
from aotloop.agents.versions import all_with_versions
from aotloop.config import Config
from aotloop.core.limits import Limits
from aotloop.core.model import Loop
from aotloop.launch.admission import hire
from aotloop.launch.shortcomings import matters_of, shortcomings
from aotloop.launch.staffing import likely_agents
from aotloop.runner import news
from aotloop.runner.clock import now
from aotloop.runner.crew import SHELL

PATIENCE = 5.0


def roll_call(loop: Loop, config: Config, limits: Limits) -> Iterator[news.News]:
    backends = {name: hire(config, name)[0] for name in likely_agents(loop, config)}
    backends = {name: backend for name, backend in backends.items() if backend.name != SHELL}
    found = all_with_versions({name: backend.look() for name, backend in backends.items()}, PATIENCE)
    matters = matters_of(loop, limits)
    for name, backend in backends.items():
        yield _found(name, backend, found[name])
        texts = [*_doubts(name, found[name]), *shortcomings(name, _able(backend, name, config), matters)]
        yield from (news.Warned(at=now(), text=text) for text in texts)


def _able(backend: Backend, name: str, config: Config) -> Capabilities:
    """What a client costs that counts its tokens is known where the configuration tells their price."""
    able = backend.capabilities
    is_priced = able.cost_report == "missing" and config.price_of(name) is not None
    return replace(able, cost_report="emulated") if is_priced else able


def _found(name: str, backend: Backend, presence: Presence) -> news.News:
    return news.AgentFound(
        at=now(),
        agent=name,
        backend=backend.name,
        program=presence.program,
        version=presence.version,
        problem=presence.problem,
    )


def _doubts(name: str, presence: Presence) -> Iterator[str]:
    if presence.doubt is not None:
        yield f"{name} {presence.doubt}"
    if presence.is_missing:
        yield f"{name} cannot be used: {presence.problem}; {presence.remedy}"
    elif presence.login is not None and presence.login.state == "no":
        yield f"{name} seems not to be logged in: {presence.login.because}; {presence.log_in}"
