"""What a fence costs an attempt: an attempt of one second behind each engine that works here, and the start alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from aotloop.errors import Unavailable
from aotloop.process import blocking_run
from aotloop.process.sandbox import Confinement, Policy, in_force
from aotloop.process.sandbox.fence import Choice
from aotloop.process.spec import ProcessSpec
from bench.measure import Row, in_turn

ROUNDS = 5
STARTS = 21
ENGINES: tuple[tuple[Choice, str], ...] = (("bwrap", "goal: at most 1.05"), ("landlock", ""))


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        closed = Path(folder, "checkout")
        work = Path(folder, "worktree")
        for path in (closed, work):
            path.mkdir()
        for engine, goal in ENGINES:
            policy = Policy(engine=engine)
            try:
                in_force(policy)
            except Unavailable:
                continue
            fence = Confinement(closed=(closed,), open=(work,), policy=policy)
            second = in_turn(_contenders(fence, work, ("sleep", "1")), ROUNDS, median)
            yield Row(
                f"attempt of one second behind {engine} / without", second["ours"], second["plain"], goal, "other"
            )
            start = in_turn(_contenders(fence, work, ("true",)), STARTS, median)
            bound = "goal: ours at most 20 ms more" if goal else ""
            yield Row(f"start behind {engine} / without", start["ours"], start["plain"], bound, "other")


def _contenders(fence: Confinement, cwd: Path, argv: tuple[str, ...]) -> dict[str, Callable[[], object]]:
    plain = ProcessSpec(argv=argv, cwd=cwd, env=dict(os.environ))
    fenced = ProcessSpec(argv=argv, cwd=cwd, env=dict(os.environ), confinement=fence)
    return {"ours": partial(blocking_run.run, fenced), "plain": partial(blocking_run.run, plain)}
