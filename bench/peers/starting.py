"""From start to end of a process that does next to nothing: says its version, or what there is to do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from bench.files import state_file
from bench.measure import in_turn
from bench.peers.contenders import OURS, Contender
from bench.peers.drivers.gnu_make import makefile
from bench.peers.drivers.order import order_for
from bench.peers.driving import ROOT, environ, scratch
from bench.peers.rows import Row

GROUP = "start-up, milliseconds of a process"
VERSION, OUTLOOK, HOOK = "version, or import", "20 steps listed", "hook"
STEPS = 20
SESSION = "5f0c6e0e-7a9b-4d0c-9f55-0a1b2c3d4e5f"
IMPORTS = {
    "langgraph_sqlite": "import langgraph.graph, langgraph.checkpoint.sqlite",
    "pydantic_file": "import pydantic_graph.persistence.file",
}
PROGRAMS = {
    "dbos_sqlite": ["dbos", "--help"],
    "prefect_local": ["prefect", "--version"],
    "doit_steps": ["doit", "--version"],
    "luigi_steps": ["luigi", "--help"],
}


def rows(contenders: Sequence[Contender], cache: Path, rounds: int) -> Iterator[Row]:
    with scratch() as folder:
        _prepare(folder)
        calls = {("python -I -c pass", VERSION): partial(_run, [sys.executable, "-I", "-c", "pass"], folder)}
        for one in contenders:
            for work, call in _calls(one, cache, folder).items():
                calls[one.name, work] = call
        working: dict[str, Callable[[], object]] = {}
        for (name, work), call in calls.items():
            try:
                call()  # the first one compiles
            except (OSError, subprocess.CalledProcessError, subprocess.TimeoutExpired):
                yield Row(group=GROUP, work=work, contender=name, unit="ms", note="not measured: it does not start")
            else:
                working[f"{name}\n{work}"] = call
        for both, milliseconds in in_turn(working, rounds, median).items():
            name, work = both.split("\n")
            yield Row(group=GROUP, work=work, contender=name, unit="ms", value=milliseconds, rounds=rounds)


def _calls(contender: Contender, cache: Path, folder: Path) -> dict[str, partial[None]]:
    python = contender.interpreter(cache)
    driver = contender.driver
    if contender.name == OURS:
        aot = str(python.with_name("aot"))
        hook = [sys.executable, "-I", "-S", str(ROOT / "plugin" / "hooks" / "aot_hook.py"), "Stop"]
        told = json.dumps({"session_id": SESSION, "cwd": str(folder), "hook_event_name": "Stop"})
        return {
            VERSION: partial(_run, [aot, "--version"], folder),
            OUTLOOK: partial(_run, [aot, "status"], folder),
            HOOK: partial(_run, hook, folder, told=told),
        }
    if driver in IMPORTS:
        return {VERSION: partial(_run, [str(python), "-c", IMPORTS[driver]], folder)}
    if driver == "gnu_make":
        return {
            VERSION: partial(_run, ["make", "--version"], folder),
            OUTLOOK: partial(_run, ["make", "-n"], folder),
        }
    if driver not in PROGRAMS:
        return {}
    program, *words = PROGRAMS[driver]
    calls = {VERSION: partial(_run, [str(python.with_name(program)), *words], folder)}
    if program == "doit":
        dodo = ROOT / "bench" / "peers" / "drivers" / "doit_steps.py"
        listing = [str(python.with_name(program)), "list", "--all", "-f", str(dodo), "--dir", str(folder)]
        calls[OUTLOOK] = partial(_run, listing, folder)
    return calls


def _prepare(folder: Path) -> None:
    state = folder / ".claude" / "aot-loop-state.md"
    state.parent.mkdir()
    state.write_bytes(state_file(STEPS))
    (folder / "Makefile").write_text(makefile(order_for("chain-commands", STEPS, folder)))


def _run(argv: list[str], folder: Path, told: str = "") -> None:
    environment = {**environ(folder), "STEPS": f"chain-commands {STEPS}"}
    subprocess.run(argv, cwd=folder, env=environment, input=told.encode(), check=True, capture_output=True, timeout=60)
