"""The site of one round: a loop of paid agents, a worker at the end of a cable, and what was found there afterwards.

Each agent writes down what it spends before it tells it. So what the loop has counted can be compared with the truth.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.assignments import worker_answer
from tests.loops import atom
from tests.patience import PATIENCE
from tests.remote.cluster import Server, WorkerProcess
from tests.remote.projects import a_remote_project
from tests.runner.projects import Project
from tests.warm import Process

from aotloop.core.model import Constraints
from faults.cables import Cable, a_cable

ATOMS = 10
STEPS = 5
_STEP_USD = 0.01
_MOST_RUNS = 12

_AGENT = """
for step in $(seq {steps}); do
  echo "$AOT_ATOM_ID $AOT_RUN_ID $AOT_ATTEMPT" >> {log}
  echo '{{"usage": {{"cost_usd": 0.0'$step'}}}}'
  sleep 0.3
done
if mv {folder}/oversized {folder}/taken.$$ 2>/dev/null; then head -c 3000000 /dev/urandom > large-$AOT_ATOM_ID; fi
echo $AOT_ATOM_ID >> all-$AOT_ATOM_ID
echo '{answer}'
"""


@dataclass
class Site:
    folder: Path
    server: Server
    project: Project
    worker: WorkerProcess
    key_file: Path
    cable: Cable | None
    heartbeat: float
    run: Process | None = None
    codes: list[int] = field(default_factory=list)
    told: str = ""
    """What the runs have printed."""

    def start(self) -> None:
        """A run, unless one is under way."""
        if self.run is not None and self.run.poll() is not None:
            self.end()
        if self.run is None:
            self.run = self.project.start("run", "--yes")

    def end(self, *, at_once: bool = False) -> None:
        """Waits for the run, or kills it."""
        if self.run is None:
            return
        if at_once:
            with suppress(ProcessLookupError):
                self.run.send_signal(signal.SIGKILL)
        try:
            out, err = self.run.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.run.send_signal(signal.SIGKILL)
            out, err = self.run.communicate()
            err += "it did not end"
        self.told += out + err
        self.codes.append(self.run.wait())
        self.run = None

    @property
    def is_completed(self) -> bool:
        return self.project.loop.control.status == "completed"

    def finish(self) -> None:
        """Undisturbed runs, until the loop is completed."""
        self.end()
        while not self.is_completed and len(self.codes) < _MOST_RUNS:
            self.start()
            self.end()


@contextmanager
def a_site(folder: Path, server: Server, *, heartbeat: float, has_cable: bool) -> Iterator[Site]:
    names = [f"A{n}" for n in range(1, ATOMS + 1)]
    agent = folder / "agent"
    answer = worker_answer(usage={"cost_usd": STEPS * _STEP_USD})
    agent.write_text(_AGENT.format(steps=STEPS, log=folder / "log", folder=folder, answer=answer))
    key = folder / "key"
    key.write_text(os.urandom(32).hex())
    key.chmod(0o600)
    own = f'agent = "paid"\n[agents.paid]\nkind = "command"\nargv = ["/bin/sh", "{agent}"]\n'
    worker_folder = folder / "worker"
    worker_folder.mkdir()
    with ExitStack() as stack:
        cable = stack.enter_context(a_cable(server.port)) if has_cable else None
        worker = WorkerProcess(
            server,
            worker_folder,
            {"project": folder / "project"},
            "",
            agents=("paid",),
            slots=3,
            settings=f'{own}[remote]\nkey_file = "{key}"\n',
            inside=cable.inside if cable is not None else (),
            address=cable.address if cable is not None else None,
        )
        made = a_remote_project(
            folder,
            server,
            *(atom(name, *names[:1][: bool(n)]) for n, name in enumerate(names)),
            base_case=" && ".join(f"test -f all-{name}" for name in names),
            constraints=Constraints(max_parallel_agents=3, max_attempts=20, max_total_attempts=200),
            heartbeat=f"{heartbeat}s",
            settings=f'first_sign = "8s"\nkey_file = "{key}"\n',
            worker=worker,
            own=own,
        )
        project, _ = stack.enter_context(made)
        yield Site(folder, server, project, worker, key, cable, heartbeat)


def examined(site: Site, *, each_once: bool) -> tuple[list[str], int]:
    """What is wrong, and how much was lost or is there twice."""
    project, lost = site.project, 0
    problems = [] if site.codes and site.codes[-1] == 0 else [f"it ended with {site.codes}: {site.told[-600:]}"]
    merged = Counter(project.git("log", "--format=%(trailers:key=Aot-Atom,valueonly,separator=)").split())
    for name in (f"A{n}" for n in range(1, ATOMS + 1)):
        file = project.root / f"all-{name}"
        found = file.read_text().split() if file.exists() else []
        if found != [name] or merged[name] != 1:
            lost += 1
            problems.append(f"{name} is there as {found}, merged {merged[name]} times")
    return problems + _wrong_money(site, each_once=each_once), lost


def _wrong_money(site: Site, *, each_once: bool) -> list[str]:
    log = site.folder / "log"
    steps = Counter(log.read_text().splitlines() if log.exists() else [])
    twice = [order for order, count in steps.items() if count > STEPS]
    spent, counted = sum(steps.values()) * _STEP_USD, site.project.loop.control.cost_usd
    least = (sum(steps.values()) if each_once else ATOMS * STEPS) * _STEP_USD
    problems = [f"one order was carried out twice: {order}" for order in twice]
    if each_once and len(steps) != ATOMS:
        problems.append(f"{len(steps)} agents were started for {ATOMS} atoms: {json.dumps(steps)}")
    if not least - 1e-6 <= counted <= spent + 1e-6:
        problems.append(f"{counted:.2f} USD were counted, {spent:.2f} spent, {least:.2f} were told")
    return problems
