"""Start-up of the scripts an agent calls most, against an interpreter that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from statistics import median

from bench.files import state_file
from bench.measure import Row, in_turn

ROUNDS = 41
SCRIPTS = Path(__file__).parent.parent / "plugin" / "skills" / "state-contract" / "scripts"


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, ".claude", "aot-loop-state.md")
        state.parent.mkdir()
        state.write_bytes(state_file(20))
        statuses = cycle(["in_progress", "pending"])
        # As a user would start them: compiled modules are kept, which PYTHONDONTWRITEBYTECODE would forbid.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

        def run(*words: str) -> None:
            subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)

        medians = in_turn(
            {
                "read_state.py": lambda: run(str(SCRIPTS / "read_state.py")),
                "update_atom.py": lambda: run(str(SCRIPTS / "update_atom.py"), "A11", next(statuses)),
                "bare": lambda: run("-I", "-c", "pass"),
            },
            ROUNDS,
            median,
        )
    for name in ("read_state.py", "update_atom.py"):
        yield Row(f"{name} on 20 atoms / python -I -c pass", medians[name], medians["bare"], "goal: at most 5", "other")
