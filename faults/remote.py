"""Runs whose attempts other machines make, while workers, runner, server and cable are struck at random.

There are two kinds of rounds. Where attempts survive all that happens (a long heartbeat), each agent is started once,
and its whole bill is counted once. Where attempts are lost (a short one), they are made again, and no bill is counted
twice. After the strikes the run is finished undisturbed. Nothing may be lost or merged twice.
"""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

from tests.remote.cluster import WITHOUT, Server, a_server, program

from faults.cables import refusal
from faults.counts import Counts, Deadline
from faults.remote_site import a_site, examined
from faults.remote_strikes import GENTLE, HARSH, STRIKES

KIND = "other machines"
_MOST_STRIKES = 8


def campaign(top: Path, deadline: Deadline, *, seed: int) -> list[Counts]:
    """One row for each kind of strike."""
    if program() is None:
        return [Counts(KIND, skipped=WITHOUT)]
    counts = {name: Counts(f"{KIND}: {name}") for name in STRIKES}
    no_cable = refusal()
    for name in [name for name in STRIKES if "cable" in name]:
        counts[name].skipped = no_cable
    chance, number = random.Random(seed), 0
    with a_server(top / "server") as server:
        while not deadline.is_over:
            number += 1
            folder = top / str(number)
            folder.mkdir()
            _round(folder, server, chance, counts, has_cable=no_cable is None)
            shutil.rmtree(folder, ignore_errors=True)
    return list(counts.values())


def _round(folder: Path, server: Server, chance: random.Random, counts: dict[str, Counts], *, has_cable: bool) -> None:
    is_gentle = chance.random() < 0.5
    names = [name for name in (GENTLE if is_gentle else HARSH) if has_cable or "cable" not in name]
    wanted = chance.choices(names, k=chance.randint(3, _MOST_STRIKES))
    began, struck = time.monotonic(), []
    with a_site(folder, server, heartbeat=60.0 if is_gentle else 4.0, has_cable=has_cable) as site:
        for name in wanted:
            site.start()
            time.sleep(chance.uniform(0.0, 1.5))
            if site.is_completed:
                break
            if STRIKES[name](site, chance):
                struck.append(name)
        site.finish()
        problems, lost = examined(site, each_once=is_gentle)
    took = (time.monotonic() - began) / max(len(struck), 1)
    for name in struck or wanted[:1]:
        counts[name].add(", ".join(struck), problems, lost=lost)
        counts[name].seconds += took
        problems, lost = [], 0  # told once
