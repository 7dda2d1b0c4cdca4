"""Runs whose attempts other machines make, while workers, runner and server are killed or stopped at random.

After the strikes the run is finished undisturbed. Nothing may be lost or merged twice; if only runners were killed,
each command has run once; the exit code is right.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.loops import atom
from tests.patience import PATIENCE
from tests.remote.cluster import WITHOUT, Server, WorkerProcess, a_server, program
from tests.remote.projects import a_remote_project
from tests.runner.projects import Project
from tests.warm import Process

from aotloop.core.model import Constraints
from faults.counts import Counts, Deadline

KIND = "other machines"
STRIKES = ("runner", "worker", "server", "stopped worker")
_ATOMS = 6
_MOST_STRIKES = 3
_HEARTBEAT = 3.0
_MOST_RUNS = 4


def campaign(top: Path, deadline: Deadline, *, seed: int) -> list[Counts]:
    counts = Counts(KIND)
    began = time.monotonic()
    if program() is None:
        counts.skipped = WITHOUT
        return [counts]
    chance = random.Random(seed)
    number = 0
    with a_server(top / "server") as server:
        while not deadline.is_over:
            number += 1
            strikes = chance.choices(STRIKES, k=chance.randint(1, _MOST_STRIKES))
            pauses = [chance.uniform(0.0, 2.0) for _ in strikes]
            folder = top / str(number)
            folder.mkdir()
            problems, lost = endured(folder, server, strikes, pauses)
            for one in strikes:
                counts.add(f"{number}: {', '.join(strikes)}: {one}", problems, lost=lost)
                problems, lost = [], 0  # told once
            shutil.rmtree(folder, ignore_errors=True)
    counts.seconds = time.monotonic() - began
    return [counts]


def endured(folder: Path, server: Server, strikes: list[str], pauses: list[float]) -> tuple[list[str], int]:
    """What was wrong, and how much was lost or is there twice."""
    log = folder / "log"
    names = [f"A{n}" for n in range(1, _ATOMS + 1)]
    atoms = [
        atom(name, *names[:1][: bool(n)], run=f"echo {name} >> {log}; sleep 0.{n + 2}; echo {name} >> all-{name}")
        for n, name in enumerate(names)
    ]
    wanted = " && ".join(f"test -f all-{name}" for name in names)
    with a_remote_project(
        folder,
        server,
        *atoms,
        base_case=wanted,
        constraints=Constraints(max_parallel_agents=3),
        heartbeat=f"{_HEARTBEAT}s",
        settings='first_sign = "5s"',
    ) as (project, worker):
        run: Process | None = project.start("run", "--yes")
        for strike, pause in zip(strikes, pauses, strict=True):
            time.sleep(pause)
            run = _strike(strike, project, server, worker, run)
        codes = _finished(project, run)
        return _examined(project, names, log, codes, only_runner=set(strikes) == {"runner"})


def _strike(
    strike: str, project: Project, server: Server, worker: WorkerProcess, run: Process | None
) -> Process | None:
    match strike:
        case "runner":
            if run is not None:
                with suppress(ProcessLookupError):
                    run.send_signal(signal.SIGKILL)
                run.communicate()
            return project.start("run", "--yes")
        case "worker":
            worker.end(at_once=True)
            worker.start()
        case "server":
            server.kill()
            server.start()
        case _ if worker.process is not None:
            worker.process.send_signal(signal.SIGSTOP)
            time.sleep(_HEARTBEAT + 1)
            worker.process.send_signal(signal.SIGCONT)
    return run


def _finished(project: Project, run: Process | None) -> list[int]:
    """The exit codes; the last is 0 unless something is wrong."""
    codes = []
    with ExitStack() as stack:
        if run is not None:
            try:
                run.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                stack.callback(run.send_signal, signal.SIGKILL)
                return [-1]
            codes.append(run.wait())
        while (not codes or codes[-1] != 0) and len(codes) < _MOST_RUNS:
            codes.append(project.aot("run", "--yes").code)
    return codes


def _examined(
    project: Project, names: list[str], log: Path, codes: list[int], *, only_runner: bool
) -> tuple[list[str], int]:
    problems = [f"it ended with {codes}"] if codes[-1] != 0 else []
    lost = 0
    merged = project.git("log", "--format=%(trailers:key=Aot-Atom,valueonly,separator=)").split()
    began = log.read_text().split() if log.exists() else []
    for name in names:
        file = project.root / f"all-{name}"
        found = file.read_text().split() if file.exists() else []
        if found != [name]:
            lost += 1
            problems.append(f"{name} is there as {found}")
        if merged.count(name) != 1:
            lost += 1
            problems.append(f"{name} was merged {merged.count(name)} times")
        if only_runner and began.count(name) != 1:
            problems.append(f"the command of {name} ran {began.count(name)} times")
    return problems, lost
