"""Shows commands as a person would type them, and really runs them; a failing command ends the demonstration.

The commands get a home of their own, and only those variables of the user that agents also get.
"""

from __future__ import annotations

import os
import shlex
import site
import sys
from collections.abc import Sequence

import click
import msgspec

from aotloop.cli.demo.stage import Stage, place_of, undisturbed
from aotloop.cli.error_handler import may_colour
from aotloop.cli.ui.output import faint, tell
from aotloop.errors import AotError
from aotloop.exit_codes import PIPE_CLOSED
from aotloop.git.command import git
from aotloop.process import blocking_run
from aotloop.process.environment import scrub
from aotloop.process.output import Whole
from aotloop.process.spec import Ending, ProcessSpec

OURSELVES = (sys.executable, "-P", "-c", "from aotloop.cli.main import main; main()")
PATIENCE = 60.0
"""Seconds in which an interrupted command can end its own processes."""

_SEEN = ("COLUMNS", "LINES", "PYTHONPATH", "PYTHONHOME")


class Performer(msgspec.Struct, frozen=True):
    stage: Stage
    pace: float
    """Seconds of each worker's step, so that the user can watch it."""
    is_plain: bool

    def aot(self, *words: str) -> None:
        self._perform(("aot", *words), (*OURSELVES, *words))

    def try_aot(self, *words: str) -> int:
        """Its exit code; a failure is a part of the story."""
        return self._ended(("aot", *words), (*OURSELVES, *words))[0]

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
        status, remarks = self._ended(shown, started)
        if status:
            click.echo(remarks, err=True, nl=False)
            raise AotError(f"`{shlex.join(shown)}` ended with {status}", exit_code=status)

    def _ended(self, shown: Sequence[str], started: Sequence[str]) -> tuple[int, str]:
        self._show(shown)
        sys.stdout.flush()
        remarks = Whole()
        spec = ProcessSpec(
            argv=tuple(started),
            cwd=self.stage.project,
            env=self._surroundings(),
            stdout="inherit",
            own_session=False,  # Ctrl-C also reaches the command
            ending=Ending(grace=PATIENCE, reach="process", clears=False),
        )
        status = blocking_run.run(spec, err=remarks).status
        if status == PIPE_CLOSED:
            raise BrokenPipeError
        return status or 0, remarks.text()

    def _surroundings(self) -> dict[str, str]:
        seen = {name: value for name, value in scrub(os.environ, allow=_SEEN).items() if not name.startswith("XDG_")}
        path = os.pathsep.join((str(self.stage.programs), seen.get("PATH", os.defpath)))
        ours = {
            "HOME": str(self.stage.home),
            "PATH": path,
            "PACE": str(self.pace),
            "PYTHONUSERBASE": site.getuserbase(),  # else the new home hides the user's packages
        }
        return {**seen, **ours, **undisturbed(), **({"TERM": "dumb"} if self.is_plain else {})}
