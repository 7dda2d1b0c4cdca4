"""Start-up of the scripts an agent calls most, and of the command line, against an interpreter that does nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from statistics import median

from bench.files import state_file
from bench.measure import Row, environment_of_a_user, in_turn

ROUNDS = 41
GOALS = {"read_state.py on 20 atoms": 4.5, "update_atom.py on 20 atoms": 4.5, "aot --help": 4}
SCRIPTS = Path(__file__).parent.parent / "plugin" / "skills" / "state-contract" / "scripts"


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, ".claude", "aot-loop-state.md")
        state.parent.mkdir()
        state.write_bytes(state_file(20))
        statuses = cycle(["in_progress", "pending"])
        environment, aot = environment_of_a_user(), str(Path(sys.executable).with_name("aot"))

        def run(*words: str) -> None:
            subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)

        medians = in_turn(
            {
                "read_state.py on 20 atoms": lambda: run(str(SCRIPTS / "read_state.py")),
                "update_atom.py on 20 atoms": lambda: run(str(SCRIPTS / "update_atom.py"), "A11", next(statuses)),
                "aot --help": lambda: run(aot, "--help"),
                "bare": lambda: run("-I", "-c", "pass"),
            },
            ROUNDS,
            median,
        )
    for name, goal in GOALS.items():
        yield Row(f"{name} / python -I -c pass", medians[name], medians["bare"], f"goal: at most {goal}", "other")
