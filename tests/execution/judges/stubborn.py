"""Judges that do not want to end, and all of their processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.execution.judges.jurors import command, judged, quality
from tests.loops import atom
from tests.patience import until
from tests.runner.agents import done, scripted
from tests.runner.projects import Project, a_project
from tests.runner.stubborn import of_run
from tests.warm import Process

VOTES = 3
EACH = 2
"""Processes: a judge, and what it has started."""

_STUBBORN = """
import os, pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "3600"], start_new_session=True)
pathlib.Path(sys.argv[1], "judge-" + os.environ["AOT_ATTEMPT"]).touch()
time.sleep(3600)
"""


def stubborn_judges(folder: Path, environ: dict[str, str] | None = None) -> Project:
    program = folder / "stubborn.py"
    program.write_text(_STUBBORN)
    argv = json.dumps([sys.executable, "-I", "-S", str(program), str(folder)])
    config = scripted(folder, {"A1": [done({"a.txt": "a\n"})]})
    config += f'[roles.judge]\nagent = "judge"\nvotes = {VOTES}\n[agents.judge]\nargv = {argv}\n'
    items = judged(command("a", "test -f a.txt"), quality("It reads well", clarity=1))
    return a_project(folder, atom("A1"), base_case=items, config=config, environ=environ)


@contextmanager
def judging(project: Project) -> Iterator[Process]:
    """When every process of every judge is there."""
    with project.running() as process:
        until(lambda: len(list(project.root.parent.glob("judge-*"))) == VOTES and len(of_run(project)) == VOTES * EACH)
        yield process
