"""Holders of locks are killed: a waiting process goes on at once, and no cleanup is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.loops import atom
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

from faults.counts import Counts, Deadline

KIND = "lock holders that die"
_HELD = {
    "state": "from aotloop.statefile.durable import locked as hold\nheld = hold(state)",
    "state, half written": "from aotloop.statefile.durable import beside, locked as hold\n"
    "open(beside(state, 'tmp'), 'w').write('---\\nobj')\nheld = hold(state)",
    "run": "from aotloop.statefile.lease import lease as hold\nheld = hold(state)",
    "redirect": "from aotloop.statefile.lease import lease as hold\nheld = hold(state, 'redirect')",
    "integration": "from pathlib import Path\nfrom aotloop.flock import locked_file as hold\n"
    "held = hold(Path(root, '.git', 'aot-integration.lock'), patience=5, what='x')",
}
"""By what is held: the beginning of a program that holds it."""

_PROGRAM = """
import sys, time
root, state = sys.argv[1:]
{}
with held:
    print("held", flush=True)
    time.sleep(600)
"""
_COMMANDS = {
    "redirect": ("redirect", "--yes", "--set", "max_iterations=50"),
    "run": ("run", "--yes", "--json"),
    "atom add": ("atom", "add", "one more", "--id", "A9"),
    "clean": ("clean",),
}
_WAITED_FOR = {("state", "atom add"), ("state, half written", "atom add"), ("integration", "run"), ("state", "run")}
"""What is not refused while another one holds it, but waited for."""

_AT_ONCE = 20.0
"""Seconds, on a busy machine; to wait in vain takes longer."""


@contextmanager
def holding(project: Project, what: str) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", _PROGRAM.format(_HELD[what]), str(project.root), str(project.state_file)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **project.environ}) as process:
        try:
            if process.stdout is None or process.stdout.readline() != "held\n":
                raise AssertionError(f"no process holds {what}")
            yield process
        finally:
            process.kill()


def endured(folder: Path, what: str, command: str, *, waits: bool) -> list[str]:
    home = folder / "home"
    home.mkdir(parents=True)
    project = a_project(folder, atom("A1", run="echo a > a"), base_case="test -f a", environ={"HOME": str(home)})
    words = _COMMANDS[command]
    if command == "redirect":
        project.aot("atom", "start", "A1")
        project.edit(_begin)
    with holding(project, what) as holder:
        waiting = project.start(*words) if waits else None
        if waits:
            time.sleep(0.4)
        holder.kill()
        holder.wait()
        began = time.monotonic()
        out, err = waiting.communicate(timeout=60) if waiting is not None else ("", "")
        ran_code = waiting.returncode if waiting is not None else None
    if ran_code is None:
        ran = project.aot(*words)
        ran_code, out, err = ran.code, ran.out, ran.err
    found = [f"exit {ran_code}: {out[-200:]}{err[-300:]}"] if ran_code != 0 else []
    if time.monotonic() - began > _AT_ONCE:
        found.append("it waited for a dead process")
    found += [f"left behind: {path.name}" for path in _torn(project, command)]
    before, os.environ["HOME"] = os.environ["HOME"], str(home)
    try:
        found += [f"left behind: {one}" for one in leftovers(project)] if command == "run" else []
    finally:
        os.environ["HOME"] = before
    return found


def _torn(project: Project, command: str) -> list[Path]:
    """Half a file is no work; the next process that writes the file removes it."""
    return [] if command == "clean" else list(project.state_file.parent.glob(".*.tmp"))


def _begin(loop: object) -> None:
    from msgspec.structs import replace  # noqa: PLC0415

    loop.control = replace(loop.control, status="running")  # type: ignore[attr-defined]


def cases() -> Iterator[tuple[str, str, bool]]:
    for what in _HELD:
        for command in _COMMANDS:
            yield what, command, False
            if (what, command) in _WAITED_FOR:
                yield what, command, True


def campaign(top: Path, deadline: Deadline) -> Counts:
    counts, began = Counts(KIND), time.monotonic()
    for number, (what, command, waits) in enumerate(cases()):
        if deadline.is_over:
            break
        folder = top / f"holder-{number}"
        counts.add(f"{what}, {command}{', waiting' if waits else ''}", endured(folder, what, command, waits=waits))
        shutil.rmtree(folder)
    counts.seconds = time.monotonic() - began
    return counts
