"""Twenty processes, two dozen updates each, one file: none fails, none is lost, every reader sees a whole file."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from aotloop.core.invariants import findings_of
from aotloop.statefile.reader import decode
from tests.loops import a_loop, atom, write_loop

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
        sys.exit(f"{name} {words}: {out.buffer.getvalue()}")

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

    reader = threading.Thread(target=read)
    reader.start()
    writers = [
        subprocess.Popen([sys.executable, "-c", WORK, f"W{number}", str(ROUNDS)], stderr=subprocess.PIPE, text=True)
        for number in range(WRITERS)
    ]
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
    """The same with a process for each update, as agents call them; fewer, because starting them is what takes long."""
    path = write_loop(project, a_loop(*(atom(f"A{number}") for number in range(1, 25))))
    scripts = Path(__file__).parents[2] / "plugin" / "skills" / "state-contract" / "scripts"
    for status in ("in_progress", "resolved"):
        started = [
            subprocess.Popen(
                [sys.executable, str(scripts / "update_atom.py"), f"A{number}", status], stdout=subprocess.DEVNULL
            )
            for number in range(1, 25)
        ]
        assert [one.wait() for one in started] == [0] * 24
    assert {one.status for one in decode(path.read_bytes()).atoms} == {"resolved"}
