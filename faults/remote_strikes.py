"""The strikes on a run whose attempts other machines make. Each returns whether it has struck."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.remote.cluster import WorkerProcess

from faults.impostors import PATIENCE
from faults.remote_site import Site

_GLANCE = 0.05
_BEYOND = 2.0
"""Seconds more than the heartbeat."""

_SHORT = 3.0


def _runner(site: Site, _: random.Random) -> bool:
    site.end(at_once=True)
    return True


def _worker(site: Site, _: random.Random) -> bool:
    site.worker.end(at_once=True)
    site.worker.start()
    return True


def _server(site: Site, _: random.Random) -> bool:
    site.server.kill()
    site.server.start()
    return True


def _stopped_worker(site: Site, _: random.Random) -> bool:
    assert site.worker.process is not None
    site.worker.process.send_signal(signal.SIGSTOP)
    time.sleep(site.heartbeat + _BEYOND)
    site.worker.process.send_signal(signal.SIGCONT)
    return True


def _cut(site: Site, seconds: float) -> bool:
    assert site.cable is not None
    site.cable.cut()
    time.sleep(seconds)
    site.cable.mend()
    return True


def _long_cut(site: Site, _: random.Random) -> bool:
    return _cut(site, site.heartbeat + _BEYOND)


def _short_cut(site: Site, _: random.Random) -> bool:
    return _cut(site, _SHORT)


def _delayed(site: Site, chance: random.Random) -> bool:
    """As on the way to another continent, and worse."""
    assert site.cable is not None
    site.cable.delay.least, site.cable.delay.more = chance.uniform(0.1, 0.5), chance.uniform(0.0, 0.5)
    time.sleep(_SHORT)
    site.cable.delay.least = site.cable.delay.more = 0.0
    return True


def _finished_meanwhile(site: Site, _: random.Random) -> bool:
    """The server is away until a worker has finished something, which the next worker may deliver."""
    parcels = site.worker.folder / "home" / "parcels"
    site.server.kill()
    has_finished = _seen(lambda: any(parcels.glob("*.parcel")), PATIENCE)
    site.server.start()
    return has_finished


def _dropped(site: Site, chance: random.Random) -> bool:
    return bool(_impostor(site, "drops", chance))


def _forged(site: Site, chance: random.Random) -> bool:
    return bool(_impostor(site, "forges", chance))


def _old_worker(site: Site, chance: random.Random) -> bool:
    told = len(site.told)
    _impostor(site, "outdated", chance)
    site.end()
    return "not registered" in site.told[told:]


def _other_key(site: Site, _: random.Random) -> bool:
    """A real worker that has another key. It refuses the first order that it gets."""
    folder = site.folder / f"stranger-{os.urandom(3).hex()}"
    folder.mkdir()
    key = folder / "key"
    key.write_text(os.urandom(32).hex())
    key.chmod(0o600)
    settings = f'[remote]\nkey_file = "{key}"\n'
    other = WorkerProcess(site.server, folder, site.worker.repositories, site.worker.queue, settings=settings, slots=1)
    other.start()
    told = len(site.told)
    try:
        _seen(lambda: site.run is None or site.run.poll() is not None, PATIENCE)
    finally:
        other.end(at_once=True)
    site.end()
    return "another key" in site.told[told:]


def _oversized(site: Site, _: random.Random) -> bool:
    """The next agent that ends leaves three megabytes, which no message can hold."""
    wish = site.folder / "oversized"
    wish.touch()
    was_heard = _seen(lambda: not wish.exists(), PATIENCE)
    wish.unlink(missing_ok=True)
    return was_heard


def _impostor(site: Site, kind: str, chance: random.Random) -> str:
    words = (sys.executable, "-m", "faults.impostors", kind, site.worker.queue, str(site.key_file))
    done = subprocess.run(
        (*words, str(chance.randrange(1000))),
        cwd=Path(__file__).parents[1],
        env={**os.environ, "TEMPORAL_ADDRESS": site.server.address},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def _seen(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_GLANCE)
    return True


STRIKES: dict[str, Callable[[Site, random.Random], bool]] = {
    "runner killed": _runner,
    "worker killed": _worker,
    "server killed": _server,
    "worker stopped": _stopped_worker,
    "cable cut": _long_cut,
    "cable cut shortly": _short_cut,
    "cable with delays": _delayed,
    "finished without a server": _finished_meanwhile,
    "order that no worker gets": _dropped,
    "forged result": _forged,
    "older worker": _old_worker,
    "worker with another key": _other_key,
    "result too large": _oversized,
}
GENTLE = (
    "runner killed",
    "server killed",
    "cable cut shortly",
    "cable with delays",
    "finished without a server",
    "order that no worker gets",
    "forged result",
    "older worker",
    "worker with another key",
    "result too large",
)
"""No attempt that has begun is lost by these."""
HARSH = (
    "worker killed",
    "worker stopped",
    "cable cut",
    "cable with delays",
    "runner killed",
    "server killed",
    "result too large",
)
