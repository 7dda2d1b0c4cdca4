"""Twenty processes, two dozen updates each, one file: none fails, none is lost, every reader sees a whole file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from aotloop.core.invariants import findings_of
from aotloop.statefile.reader import decode
from tests.loops import a_loop, atom, write_loop
from tests.patience import give_way
from tests.scripts.calling import SCRIPTS
from tests.warm import start

WRITERS, ROUNDS = 20, 3

WORK = """
import io, json, sys
from contextlib import redirect_stdout
from aotloop.scripts.run import run

class Out(io.StringIO):
    def __init__(self):
        super().__init__()
        self.buffer = io.BytesIO()

def script(name, *words):
    out = Out()
    with redirect_stdout(out):
        code = run(name, words)
    if code:
        print(name, words, out.buffer.getvalue(), file=sys.stderr)
        sys.exit(1)

me, rounds = sys.argv[1], int(sys.argv[2])
for number in range(rounds):
    atom = f"{me}_{number}"
    script("add_atom", atom, "--description", f"work of {me}", "--depends-on", "A1")
    script("update_atom", atom, "in_progress")
    script("add_binding", atom, "--summary", f'"{atom}": done', "--artifacts", f"{atom}.txt")
    if number % 2:
        script("update_atom", atom, "resolved")
    else:
        script("fail_atom", atom, "--reason", f"{atom} was bad")
    script("read_state")
"""


def test_concurrent_scripts_lose_nothing_and_break_nothing(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="resolved")))
    done = threading.Event()
    seen: list[str] = []

    def read() -> None:
        while not done.is_set():
            errors = [one for one in findings_of(decode(path.read_bytes())) if one.level == "error"]
            seen.extend(str(one) for one in errors)
            seen.append("")
            give_way()

    reader = threading.Thread(target=read)
    reader.start()
    work = project / "work.py"
    work.write_text(WORK)
    writers = [start([f"W{number}", str(ROUNDS)], project, os.environ, work) for number in range(WRITERS)]
    complaints = [writer.communicate()[1] for writer in writers]
    done.set()
    reader.join()

    assert [writer.returncode for writer in writers] == [0] * WRITERS, complaints
    assert [one for one in seen if one] == []
    assert len(seen) > 10
    loop = decode(path.read_bytes())
    assert len(loop.atoms) == 1 + WRITERS * ROUNDS
    assert len(loop.trail) == WRITERS * (ROUNDS - ROUNDS // 2)
    statuses = {one.id: (one.status, one.failures) for one in loop.atoms}
    for number in range(WRITERS):
        for turn in range(ROUNDS):
            name = f"W{number}_{turn}"
            assert statuses[name] == (("resolved", 0) if turn % 2 else ("pending", 1))
            assert (name in loop.bindings) == bool(turn % 2)


def test_processes_of_their_own_lose_nothing_either(project: Path) -> None:
    """The same with a process for each update, as agents call them."""
    path = write_loop(project, a_loop(*(atom(f"A{number}") for number in range(1, 25))))
    for status in ("in_progress", "resolved"):
        started = [
            start([one.id, status], project, os.environ, SCRIPTS["update_atom"])
            for one in decode(path.read_bytes()).atoms
        ]
        said = [one.communicate() for one in started]
        assert [one.returncode for one in started] == [0] * 24, said
    assert {one.status for one in decode(path.read_bytes()).atoms} == {"resolved"}
