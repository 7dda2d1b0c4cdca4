"""The story: a loop of twenty atoms, with one of everything that can be interrupted. It is the loop that is killed.

An agent leaves traces outside of the repository: a receipt for every finished result, and a complaint if another agent
works on the same atom at the same time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.loops import atom
from tests.runner.projects import Project, a_project

from aotloop.core.model import Atom, AtomCheck, BaseCase, Check, ChecklistItem, Constraints, OrGroup

PARTS = ("left", "right")
"""Of the atom that is decomposed."""

CHAIN = ("B1", "B2", "B3")
SHARED = ("M1", "M2")
FILES = ("R1", "C1", "C2", "F", "Q", "D", "E", "J", *PARTS)

LIMITS = Constraints(max_iterations=5000, max_stall_count=100, max_parallel_agents=4, max_attempts=2)


@dataclass(frozen=True)
class Story:
    project: Project
    traces: Path

    def receipts(self) -> list[tuple[str, int]]:
        """Of results that were finished: the atom and the number of the attempt."""
        return [(name, int(number)) for name, number in (line.split() for line in self._lines("receipts"))]

    def complaints(self) -> list[str]:
        return self._lines("complaints")

    def _lines(self, name: str) -> list[str]:
        path = self.traces / name
        return path.read_text().splitlines() if path.exists() else []


def a_story(folder: Path, environ: dict[str, str]) -> Story:
    worker, traces = folder / "worker.py", folder / "traces"
    worker.write_text(_WORKER)
    traces.mkdir()
    argv = [sys.executable, "-I", "-S", str(worker), str(traces)]
    atoms = list(_atoms(" ".join(argv)))
    project = a_project(
        folder,
        *atoms,
        or_groups={name: _group(name, atoms) for name in ("way", "other", "race")},
        base_case=BaseCase(checklist=tuple(_items())),
        constraints=LIMITS,
        config=f'agent = "scripted"\n[agents.scripted]\nargv = {json.dumps(argv)}\n',
        environ={**environ, "PATH": os.environ["PATH"]},
    )
    return Story(project, traces)


def _atoms(command: str) -> Iterator[Atom]:
    yield atom("R1", run=command)
    for number, one in enumerate(CHAIN):
        yield atom(one, *CHAIN[:number][-1:], run=command)
    for one in ("C1", "C2"):  # agents, whose results are checked
        yield atom(one, check=AtomCheck(type="command", value=f"grep -qx {one} {one}.txt"))
    yield atom("F", check=AtomCheck(type="command", value="grep -qx F F.txt"))  # its first attempt does not pass
    for one in SHARED:
        yield atom(one, touches=("shared.txt",))
    yield atom("P", or_group="way", run=command)
    yield atom("Q", or_group="way", run=command)
    yield atom("D", "P", run=command, check=AtomCheck(type="file", value="Q.txt"))  # passes only with Q
    yield atom("E", "D", run=command)
    yield atom("X", or_group="other")  # fails by itself; then Y and Z are probed
    yield atom("Y", or_group="other")
    yield atom("Z", or_group="other")
    yield atom("V", or_group="race", run=command)
    yield atom("W", or_group="race", run=command)
    yield atom("S", check=AtomCheck(type="command", value="test -f left.txt -a -f right.txt"))  # is decomposed
    yield atom("J", "E", "S", CHAIN[-1], "X", "V", *SHARED, run=command)


def _group(name: str, atoms: list[Atom]) -> OrGroup:
    choices = tuple(one.id for one in atoms if one.or_group == name)
    return OrGroup(choices=choices, selected=choices[0], speculative=name == "race")


def _items() -> Iterator[ChecklistItem]:
    for one in FILES:
        yield _item(f"{one}.txt", f"printf '{one}\\n' | cmp - {one}.txt")
    yield _item("chain.txt", "printf '" + "".join(f"{one}\\n" for one in CHAIN) + "' | cmp - chain.txt")
    yield _item("shared.txt", f"test \"$(sort shared.txt | tr '\\n' ' ')\" = '{' '.join(SHARED)} '")
    yield _item("one of the racers", "test $(cat V.txt W.txt 2>/dev/null | wc -l) = 1")
    yield _item("what was given up", "test ! -e P.txt -a ! -e X.txt")


def _item(name: str, command: str) -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type="command", value=command))


_WORKER = """
import fcntl, json, os, pathlib, random, sys, time

traces = pathlib.Path(sys.argv[1])
name, attempt, role = (os.environ[one] for one in ("AOT_ATOM_ID", "AOT_ATTEMPT", "AOT_ROLE"))

def trace(kind, text):
    descriptor = os.open(traces / kind, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, (text + "\\n").encode())
    os.close(descriptor)

def answer(success, reason="", **more):
    delta = {"summary": "did " + name, "artifacts": []}
    print(json.dumps({"success": success, "bindings_delta": delta, "artifacts": [], "reason": reason, **more}))

def append(path, line):
    with open(path, "a") as file:
        file.write(line + "\\n")

busy = open(traces / ("busy-" + name), "w")
try:
    fcntl.flock(busy, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    trace("complaints", "two at once at " + name)
trace("begun", name + " " + attempt)
time.sleep(random.choice((0.01, 0.05, 0.1, 0.2, 1.0)))

if role == "probe":
    print(json.dumps({"feasible": True, "findings": "it can be done", "cost_estimate": 1.0 if name == "Z" else 2.0}))
    sys.exit()
prompt = "" if sys.stdin.closed else sys.stdin.read()
if name == "X":
    answer(False, "it cannot be done")
    sys.exit()
if name == "S":
    parts = [{"description": "write left"}, {"description": "write right"}]
    answer(False, "two things", proposal={"reason": "two things", "children": parts})
    sys.exit()
line = next((part for part in ("left", "right") if "> write " + part in prompt), name)
if name == "F" and not (traces / "tried").exists():
    (traces / "tried").touch()
    append("F.txt", "nothing of the kind")
elif name in ("B1", "B2", "B3"):
    append("chain.txt", line)
elif name in ("M1", "M2"):
    append("shared.txt", line)
else:
    append(line + ".txt", line)
answer(True)
sys.stdout.flush()
trace("receipts", name + " " + attempt)
"""
