"""A project in a git repository with a loop that a session drives, and worktrees as the client makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from aotloop.core.model import Atom, Loop
from aotloop.statefile.reader import decode
from tests.git.checkouts import sh, write
from tests.loops import a_loop, write_accepted

SESSION = "session-1"


def state(project: Path) -> Loop:
    return decode((project / ".claude" / "aot-loop-state.md").read_bytes())


def loop_in_session(project: Path, *atoms: Atom, protect: tuple[str, ...] = (), **more: Any) -> Path:
    """`more` of the objective."""
    loop = a_loop(*atoms, **more)
    loop.control = replace(loop.control, run_id="r1", session_id=SESSION)
    loop.objective = replace(loop.objective, protect=protect)
    return write_accepted(project, loop)


def worktree(project: Path, name: str, files: dict[str, str], start: str = "HEAD") -> Path:
    path = project / ".claude" / "worktrees" / f"agent-{name}"
    sh(project, "worktree", "add", "-q", "-b", f"worktree-agent-{name}", str(path), start)
    write(path, files)
    return path


def integrated(project: Path) -> list[str]:
    """The atoms of our commits on the branch, oldest first."""
    return sh(project, "log", "--reverse", "--format=%(trailers:key=Aot-Atom,valueonly,separator=)").split()


def dirty(project: Path) -> str:
    return sh(project, "status", "--porcelain", "--", ".", ":!.claude")
