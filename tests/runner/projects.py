"""Real projects to run loops in: a git repository, a state file, and `aot run` as a process of its own.

project = a_project(tmp_path, atom("A1", run="echo a > a.txt"), base_case="test -f a.txt")
ran = project.run()
assert (ran.code, project.loop.control.status) == (0, "completed")
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from aotloop.core.model import Atom, BaseCase, Check, ChecklistItem, Constraints, Loop
from aotloop.statefile.store import Store
from aotloop.statefile.yaml import emitter
from tests import warm
from tests.loops import a_loop
from tests.patience import PATIENCE
from tests.repositories import new_repository
from tests.warm import Process


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def news(self) -> list[dict[str, Any]]:
        """Of a run with --json."""
        return [json.loads(line) for line in self.out.splitlines()]

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.news if one["kind"] == kind]


@dataclass
class Folder:
    """Where `aot` is started."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict, kw_only=True)

    def start(self, *arguments: str) -> Process:
        # Most agents of these tests leave marks beside the project, where a confined one can make nothing.
        return warm.start(arguments, self.root, {**os.environ, "AOT_CONFINE": "off", **self.environ})

    def aot(self, *arguments: str, patience: float = PATIENCE) -> Ran:
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
            raise AssertionError(f"aot {' '.join(arguments)} did not end\n{out}\n{err}") from None
        return Ran(process.wait(), out, err)


@dataclass
class Project(Folder):
    has_git: bool = True

    @property
    def state_file(self) -> Path:
        return self.root / ".claude" / "aot-loop-state.md"

    @property
    def loop(self) -> Loop:
        return Store(str(self.state_file)).load()

    def atom(self, atom_id: str) -> Atom:
        return next(one for one in self.loop.atoms if one.id == atom_id)

    def statuses(self) -> dict[str, str]:
        return {one.id: one.status for one in self.loop.atoms}

    def edit(self, change: Callable[[Loop], object]) -> None:
        """As a command of ours does: under the lock."""
        Store(str(self.state_file)).update(change)

    # --- running -------------------------------------------------------------------------------------------------

    def run(self, *arguments: str) -> Ran:
        """With --yes and --json."""
        return self.aot("run", "--yes", "--json", *arguments)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[Process]:
        """`aot run`, while something else is done; killed at the end if it still runs."""
        process = self.start("run", "--yes", "--json", *arguments)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    # --- what is there -------------------------------------------------------------------------------------------

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def subjects(self) -> list[str]:
        """Of the commits, oldest first, the first of all left out."""
        return self.git("log", "--reverse", "--format=%s").splitlines()[1:]

    def files(self) -> set[str]:
        """Of the last commit, but for the state file."""
        names = self.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
        return {name for name in names if not name.startswith(".claude")}

    def is_clean(self) -> bool:
        status = self.git("status", "--porcelain", "--untracked-files=all").splitlines()
        return [line for line in status if not line.endswith("aot-loop-state.md")] == []

    def worktrees(self) -> list[str]:
        """Besides the checkout itself: those that git knows, and those of attempts."""
        listed = self.git("worktree", "list", "--porcelain").splitlines()
        ours = sorted(path.read_text() for path in (self.root / ".git" / "aot" / "worktrees").glob("*/path"))
        return [line for line in listed if line.startswith("worktree ")][1:] + [f"worktree {path}" for path in ours]

    def branches(self) -> list[str]:
        return self.git("branch", "--format=%(refname:short)").splitlines()

    def news(self) -> list[dict[str, Any]]:
        """Empty as long as there is no journal."""
        journal = self.root / ".aot" / "events.jsonl"
        return [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []


def a_project(
    folder: Path,
    *atoms: Atom,
    base_case: str | BaseCase = "true",
    git: bool = True,
    files: dict[str, str] | None = None,
    constraints: Constraints = Constraints(),  # noqa: B008
    protect: tuple[str, ...] = (),
    config: str | None = None,
    environ: dict[str, str] | None = None,
    **more: Any,
) -> Project:
    """`base_case`: a command, or the whole of it. `more` goes into the loop: or_groups, decompositions, …"""
    in_place = {} if git else {"AOT_ISOLATION": "none"}  # without a repository it needs the person's word
    project = Project(folder / "project", git, environ=in_place | (environ or {}))
    (project.root / ".claude").mkdir(parents=True)
    for name, text in {"README.md": "a project\n", **(files or {})}.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if config is not None:
        (project.root / "aot.toml").write_text(config)
    loop = a_loop(*atoms, status="pending", constraints=constraints, **more)
    wanted = base_case if isinstance(base_case, BaseCase) else commands(base_case)
    loop.objective = replace(loop.objective, base_case=wanted, protect=protect)
    write_state(project.state_file, loop)
    if git:
        new_repository(project.root)
        project.git("add", "--all")
        project.git("commit", "--quiet", "--message=the beginning")
    return project


def commands(*values: str) -> BaseCase:
    items = tuple(
        ChecklistItem(item=f"item {number}", check=Check(type="command", value=value))
        for number, value in enumerate(values, 1)
    )
    return BaseCase(checklist=items)


def write_state(path: Path, loop: Loop) -> None:
    path.write_bytes(b"---\n" + emitter.block(emitter.to_data(loop), 0).encode() + b"---\n\n# Notes\n")


def asleep(seconds: int) -> list[int]:
    """Those of this test that sleep so long; the same test may be under way elsewhere on this machine."""
    return processes_with(f"sleep\0{seconds}\0", f"HOME={os.environ['HOME']}\0")


def processes_with(*marks: str) -> list[int]:
    """Those whose environment or command line has all these texts; zombies do not count."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                texts = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if all(mark.encode() in texts for mark in marks) and state != "Z":
                found.append(int(entry.name))
    return found
