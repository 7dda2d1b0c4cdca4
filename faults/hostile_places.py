"""A project with a trap around it, for a hostile repository or a hostile agent; and how we are to take what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.runner.projects import Project, Ran, a_project

from aotloop.core.model import Constraints
from faults.injection.traps import Trap

_ONE_TRY = Constraints(max_attempts=1, max_iterations=3, max_stall_count=1)
Case = Callable[[Path], Iterator[str]]


def a_place(folder: Path, *atoms: Any, **more: Any) -> tuple[Project, Trap]:
    (folder / "home").mkdir(parents=True, exist_ok=True)
    more.setdefault("files", {})
    more["files"] = {"tests/test_a.py": "assert True\n", "dir/a.txt": "a\n", **more["files"]}
    environ = {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")}
    project = a_project(folder, *atoms, constraints=_ONE_TRY, environ=environ, **more)
    trap = Trap(folder)
    trap.set()
    (project.root / ".git" / "info" / "exclude").write_text("evil.sh\n")
    return project, trap


def let_agents_note(home: Path, folder: Path) -> None:
    """Scripted agents note what they were asked for: else they fail behind a fence, and nothing is tried."""
    settings = home / ".config" / "aotloop" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'writable = ["{folder}"]\n')


def untried(ran: Ran) -> Iterator[str]:
    """An attempt that crashed before it did anything proves nothing."""
    for one in ran.kinds("attempt_ended"):
        if ".asked" in one["summary"]:
            yield f"the agent of {one['atom']} did not work: {one['summary'][-200:]}"


def manners(ran: Ran) -> Iterator[str]:
    if "this is a bug" in ran.err + ran.out or "Traceback" in ran.err:
        yield f"it takes it for a bug of ours: {ran.err[-400:]}"
    if "\x1b]0;" in ran.out + ran.err or "\x1b[2J" in ran.out + ran.err:
        yield "foreign text controls the terminal"
