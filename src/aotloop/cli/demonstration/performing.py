"""Commands are shown as a person would type them, and then really run; one that fails ends the demonstration.

They see a home of their own, and of the user's variables only what agents see too.
"""

from __future__ import annotations

import os
import shlex
import site
import subprocess
import sys
from collections.abc import Sequence

import click
import msgspec

from aotloop.agents.environment import allowed
from aotloop.cli.boundary import NOBODY_READS, may_colour
from aotloop.cli.demonstration.project import place_of, undisturbed
from aotloop.cli.demonstration.stage import Stage
from aotloop.cli.output import faint, tell
from aotloop.errors import AotError
from aotloop.workspace.git import git

OURSELVES = (sys.executable, "-P", "-c", "from aotloop.cli.main import main; main()")
PATIENCE = 10.0
"""Seconds that an interrupted command has to take along what it started."""

_SEEN = ("COLUMNS", "LINES", "PYTHONPATH", "PYTHONHOME")


class Performer(msgspec.Struct, frozen=True):
    stage: Stage
    pace: float
    """Seconds that workers take for each step, so that there is something to watch."""
    is_plain: bool

    def aot(self, *words: str) -> None:
        self._perform(("aot", *words), (*OURSELVES, *words))

    def python(self, *words: str) -> None:
        self._perform(("python3", *words), (str(self.stage.programs / "python3"), *words))

    def git(self, *words: str) -> None:
        self._show(("git", *words))
        colour = ("--color=always",) if self._is_coloured else ()
        click.echo(git(place_of(self.stage), *words, *colour).out.decode("utf-8", "replace").rstrip("\n"))

    @property
    def _is_coloured(self) -> bool:
        return sys.stdout.isatty() and may_colour() and not self.is_plain

    def _show(self, words: Sequence[str]) -> None:
        click.echo()
        tell(shlex.join(words), head=faint("$ "), style=faint)

    def _perform(self, shown: Sequence[str], started: Sequence[str]) -> None:
        self._show(shown)
        sys.stdout.flush()
        process = subprocess.Popen(  # noqa: S603 - ourselves, and the example's own program
            started,
            cwd=self.stage.project,
            env=self._surroundings(),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            _, remarks = process.communicate()
        except BaseException:
            _end(process)
            raise
        if process.returncode == NOBODY_READS:
            raise BrokenPipeError
        if process.returncode:
            click.echo(remarks.decode("utf-8", "replace"), err=True, nl=False)
            raise AotError(f"`{shlex.join(shown)}` ended with {process.returncode}", exit_code=process.returncode)

    def _surroundings(self) -> dict[str, str]:
        seen = {name: value for name, value in allowed(os.environ, _SEEN).items() if not name.startswith("XDG_")}
        path = os.pathsep.join((str(self.stage.programs), seen.get("PATH", os.defpath)))
        ours = {
            "HOME": str(self.stage.home),
            "PATH": path,
            "PACE": str(self.pace),
            "PYTHONUSERBASE": site.getuserbase(),  # else another home would hide what was installed for one user
        }
        return {**seen, **ours, **undisturbed(), **({"TERM": "dumb"} if self.is_plain else {})}


def _end(process: subprocess.Popen[bytes]) -> None:
    """If it was interrupted together with us, this makes it hurry."""
    process.terminate()
    try:
        process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
