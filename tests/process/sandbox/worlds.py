"""A small world for tests of fences: a home with secrets, a checkout, a worktree; and a shell behind a fence in it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.process import blocking_run
from aotloop.process.environment import ATTEMPT_MARK
from aotloop.process.output import Whole
from aotloop.process.sandbox import Confinement, Policy, in_force
from aotloop.process.sandbox.fence import Choice
from aotloop.process.spec import Ending, Limits, ProcessSpec
from tests.patience import PATIENCE


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    status: int | None
    out: str
    err: str


class World(msgspec.Struct, frozen=True, kw_only=True):
    home: Path
    checkout: Path
    worktree: Path

    def confinement(self, engine: Choice, client: str | None = None) -> Confinement:
        fence = Confinement(closed=(self.checkout,), open=(self.worktree,), policy=Policy(engine=engine))
        return fence.for_client(client)

    def spec(self, fence: Confinement | None, command: str) -> ProcessSpec:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        return ProcessSpec(
            argv=("/bin/sh", "-c", command),
            cwd=self.worktree,
            env=env,
            mark=ATTEMPT_MARK,
            confinement=fence,
            limits=Limits(total=PATIENCE),
            ending=Ending(grace=0.1),
        )

    def run(self, fence: Confinement | None, command: str) -> Ran:
        out, err = Whole(), Whole()
        completed = blocking_run.run(self.spec(fence, command), out=out, err=err)
        return Ran(status=completed.status, out=out.text(), err=err.text())


def a_world(folder: Path) -> World:
    home, checkout, worktree = folder / "home", folder / "checkout", folder / "worktree"
    secrets = (".ssh", ".aws", ".config/gh", ".codex", ".claude", ".config/aotloop", ".local/share/aotloop")
    for place in (checkout, worktree, *(home / name for name in secrets)):
        place.mkdir(parents=True)
        (place / "file").write_text(f"the file of {place.name}")
    return World(home=home, checkout=checkout, worktree=worktree)


def engines() -> list[Choice]:
    """The engines that work on this machine."""
    found: list[Choice] = []
    for engine in ("bwrap", "landlock"):
        try:
            in_force(Policy(engine=engine))
        except Unavailable:
            continue
        found.append(engine)
    return found
