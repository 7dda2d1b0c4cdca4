"""A worker on this machine: the user's own settings, with the options of the command line over them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Backend
from aotloop.app.cluster.elsewhere import missing_extra
from aotloop.app.preflight.agents import hire
from aotloop.config.schema import Config
from aotloop.config.sources import load
from aotloop.core.effects import Role
from aotloop.errors import AotError
from aotloop.git.commits.transfer import can_fetch
from aotloop.process.sandbox import Policy
from aotloop.trust.folder import data_folder


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """None: as the settings say."""

    queue: str | None = None
    slots: int | None = None
    home: str | None = None
    drain: float | None = None


class WorkerFinding(msgspec.Struct, frozen=True, kw_only=True, rename={"subject": "what", "result": "said"}):
    """`rename`: the keys in the answer for programs."""

    subject: str
    result: str
    ok: bool = True


def start_worker(wishes: Wishes, say: Callable[[str], None]) -> None:
    """Blocks until a signal. Raises Unavailable."""
    config, home = _settings(wishes)
    try:
        from aotloop.remote.worker.worker_process import WorkerPlan, run_worker  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra(error) from None
    plan = WorkerPlan(
        remote=config.remote,
        worker=config.worker,
        home=home,
        fence=_fence(config, home),
        hire=partial(_backend, config),
        say=say,
        variables=config.variables(),
    )
    run_worker(plan)


def worker_findings(wishes: Wishes) -> Iterator[WorkerFinding]:
    """Whether a worker can work here: server, key, repositories, agents, disk."""
    config, home = _settings(wishes)
    try:
        from aotloop.remote.server_report import server_findings  # noqa: PLC0415 - an extra
        from aotloop.remote.worker.worker_storage import free_space  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra(error) from None
    for subject, result, ok in asyncio.run(server_findings(config.remote, (config.worker.queue,))):
        yield WorkerFinding(subject=subject, result=result, ok=ok is not False)
    for name, url in config.worker.repositories.items():
        problem = can_fetch(url)
        yield WorkerFinding(subject=f"repository {name}", result=problem or "it can be fetched", ok=problem is None)
    for name in config.worker.agents:
        yield _agent(config, name)
    if not config.worker.repositories or not config.worker.agents:
        yield WorkerFinding(subject="accepts", result="nothing: [worker] names no repository or no agent", ok=False)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    free, least = free_space(home), config.worker.free_space
    yield WorkerFinding(subject=f"disk of {home}", result=f"{free} MiB free, at least {least} wanted", ok=free >= least)


def _agent(config: Config, name: str) -> WorkerFinding:
    try:
        presence = _backend(config, name, "worker").look()
    except AotError as error:
        return WorkerFinding(subject=f"agent {name}", result=error.message, ok=False)
    return WorkerFinding(subject=f"agent {name}", result=presence.problem or "it is there", ok=not presence.is_missing)


def _fence(config: Config, home: Path) -> Policy | None:
    """No attempt changes the home of the worker, or reads its key: with them it could make up results and orders."""
    key = config.remote.key_file
    hidden = (os.path.expanduser(key),) if key is not None else ()  # noqa: PTH111 - never raises
    return replace(config.fence, closed=(str(home),), hidden=hidden) if config.fence is not None else None


def _backend(config: Config, name: str, role: Role) -> Backend:
    return hire(config, name, role)[0]


def _settings(wishes: Wishes) -> tuple[Config, Path]:
    """Only the user's own settings count: a worker has no project."""
    root = data_folder("worker")
    config = load(root)
    given = {name: getattr(wishes, name) for name in wishes.__struct_fields__ if getattr(wishes, name) is not None}
    worker = replace(config.worker, **given)
    home = Path(os.path.expanduser(worker.home)) if worker.home is not None else root  # noqa: PTH111 - never raises
    return replace(config, worker=worker), home.absolute()
