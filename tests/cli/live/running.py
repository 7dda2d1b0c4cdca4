"""A run as others see it, without agents: a process that holds the lease, and the files that a run writes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from aotloop.core.model import Loop
from aotloop.execution.run_events import AttemptBegan, RunBegan, RunEvent
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from tests.loops import as_file
from tests.patience import PATIENCE

AT = "2026-01-01T00:00:00Z"
NOW = 1767225600.0
"""The same moment."""

HOLDING = """
import sys
from aotloop.statefile.lease import lease
with lease(sys.argv[1], "run"):
    print("held", flush=True)
    sys.stdin.read()
"""


class Project:
    """The files of a run."""

    def __init__(self, state_file: Path) -> None:
        self.state_file = state_file
        self.root = state_file.parent.parent
        self.events = self.root / ".aot" / "events.jsonl"

    def tell(self, *news: RunEvent) -> None:
        self.append(*(msgspec.json.encode(one) for one in news))

    def append(self, *lines: bytes) -> None:
        self.events.parent.mkdir(exist_ok=True)
        with self.events.open("ab") as file:
            file.writelines(line + b"\n" for line in lines)

    def begin(self, atom: str, attempt: int, **more: Any) -> None:
        folder = f".aot/attempts/{atom}-{attempt}"
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        more.setdefault("role", "worker")
        self.tell(AttemptBegan(at=AT, atom=atom, attempt=attempt, agent="claude", folder=folder, **more))

    def printed(self, atom: str, attempt: int, *texts: str, stream: str = "stdout") -> None:
        path = self.root / ".aot" / "attempts" / f"{atom}-{attempt}" / "transcript.jsonl"
        with path.open("ab") as file:
            file.writelines(msgspec.json.encode({"at": 0.5, "stream": stream, "text": text}) + b"\n" for text in texts)

    def write(self, loop: Loop) -> None:
        """As a run does: readers never see half a file."""
        draft = self.state_file.with_name("draft")
        draft.write_bytes(as_file(loop))
        draft.replace(self.state_file)


class Run(Project):
    """Goes on until it is ended; `end` leaves the news as they are, as a process does that is killed."""

    def __init__(self, state_file: Path, process: subprocess.Popen[str]) -> None:
        super().__init__(state_file)
        self._process = process
        self.pid = process.pid

    def began(self, **more: Any) -> None:
        self.tell(a_beginning(pid=self.pid, **more))

    def end(self) -> None:
        assert self._process.stdin is not None
        if not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.wait(PATIENCE)


def a_beginning(pid: int = 1, **more: Any) -> RunBegan:
    return RunBegan(**{"at": AT, "run_id": "r1", "pid": pid, "goal": "all of it", "isolation": "worktree", **more})


@contextmanager
def a_run(state_file: Path) -> Iterator[Run]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(state_file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    run = Run(state_file, process)
    try:
        assert holder_of(Store(str(state_file)).path) is not None
        yield run
    finally:
        run.end()
        process.stdout.close()
