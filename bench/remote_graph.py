"""`python -m bench.remote_graph [--atoms N] [--workers N] [--seconds S]`: one loop, here and on workers.

Each atom is a command that takes some seconds and changes a file. The least possible time is what the longest path
takes, or all the work divided by the slots. What is beyond that is ours, and that of the cores that everything shares.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from statistics import fmean

from tests.loops import atom
from tests.remote.cluster import a_server
from tests.runner.projects import Project, a_project

from aotloop.core.model import Atom, Constraints
from bench.remote import workers_of

_WIDTH = 25


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.remote_graph", description=__doc__)
    parser.add_argument("--atoms", type=int, default=500)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--slots", type=int, default=4, help="of each worker")
    parser.add_argument("--seconds", type=float, default=1.5, help="that each command takes")
    given = parser.parse_args()
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    places = given.workers * given.slots
    least = max(given.atoms / places, -(-given.atoms // _WIDTH)) * given.seconds
    with tempfile.TemporaryDirectory(prefix="aot-bench-") as folder, ExitStack() as stack:
        top = Path(folder)
        os.environ["HOME"] = str(top)
        here = _timed(_project(top / "here", given, places), given.seconds)
        project = _project(top / "there", given, places)
        server = stack.enter_context(a_server(top / "server"))
        workers_of(stack, top, server, project.root, given.workers, given.slots)
        settings = top / "own" / "aotloop"
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text('isolation = "remote"\n[remote]\nqueue = "bench"\n')
        project.environ |= {"XDG_CONFIG_HOME": str(top / "own"), "TEMPORAL_ADDRESS": server.address}
        there = _timed(project, given.seconds)
    print(
        f"{given.atoms} atoms of {given.seconds} s, {places} places, load {os.getloadavg()[0]:.0f}: least {least:.0f} s"
    )
    for name, (whole, more) in (("here", here), (f"{given.workers} workers", there)):
        print(f"  {name}: {whole:.0f} s, {whole / least:.2f} of the least; {more:.2f} s more than each command takes")
    print(f"  workers / here: {there[0] / here[0]:.2f}; one attempt {there[1] - here[1]:+.2f} s")


def _project(folder: Path, given: argparse.Namespace, places: int) -> Project:
    names = [f"A{n}" for n in range(given.atoms)]
    return a_project(
        folder,
        *(_atom(n, names, given.seconds) for n in range(given.atoms)),
        base_case=f"test $(ls made | wc -l) = {given.atoms}",
        constraints=Constraints(max_parallel_agents=places, max_iterations=10 * given.atoms),
    )


def _atom(number: int, names: list[str], seconds: float) -> Atom:
    """Layers: each builds on two of the layer before."""
    before = [number - _WIDTH, number - _WIDTH + 1] if number >= _WIDTH else []
    needs = [names[n] for n in before if n // _WIDTH == number // _WIDTH - 1]
    return atom(names[number], *needs, run=f"sleep {seconds}; mkdir -p made; echo {number} > made/{number}")


def _timed(project: Project, seconds: float) -> tuple[float, float]:
    """The whole, and what an attempt takes in addition to its command."""
    began = time.monotonic()
    ran = project.aot("run", "--yes", "--json", patience=3600)
    whole = time.monotonic() - began
    if ran.code != 0:
        raise RuntimeError(ran.out[-2000:] + ran.err)
    at = {kind: {one["attempt"]: one["at"] for one in ran.kinds(kind)} for kind in ("attempt_began", "attempt_ended")}
    took = [
        (datetime.fromisoformat(at["attempt_ended"][n]) - datetime.fromisoformat(began_at)).total_seconds()
        for n, began_at in at["attempt_began"].items()
        if n in at["attempt_ended"]
    ]
    return whole, fmean(took) - seconds


if __name__ == "__main__":
    main()
