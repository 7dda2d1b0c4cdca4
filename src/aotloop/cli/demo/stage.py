"""The folder of a demonstration, with a home of its own; it is removed after a success.

After a failure the folder stays, so that the user can look at it; after an interrupt it is removed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from aotloop.cli.ui.output import tell
from aotloop.deletion import discard_tree
from aotloop.errors import Unavailable
from aotloop.git.command import Place, git

INTERRUPTIONS = (KeyboardInterrupt, SystemExit, GeneratorExit, BrokenPipeError)


class Stage(msgspec.Struct, frozen=True):
    folder: Path
    is_kept: bool

    @property
    def project(self) -> Path:
        return self.folder / "pancakes"

    @property
    def home(self) -> Path:
        """Replaces the user's home: trust, agreements and worktrees of a demonstration do not belong there."""
        return self.folder / "home"

    @property
    def programs(self) -> Path:
        return self.folder / "bin"


@contextmanager
def stage(folder: Path | None, *, keep: bool) -> Iterator[Stage]:
    """A temporary folder, or the given folder, which is always kept."""
    place = Stage(_new(folder), is_kept=keep or folder is not None)
    try:
        yield place
    except INTERRUPTIONS:
        _clear(place)
        raise
    except Exception:
        tell(f"The demo failed; its files are kept in {place.folder}", err=True)
        raise
    _clear(place)


def _new(folder: Path | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="aot-demo-")).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = next(folder.iterdir(), None) is None
    except OSError as error:
        raise Unavailable(f"{folder}: {error.strerror}", hint="Name a folder that can be created.") from error
    if not is_empty:
        raise Unavailable(f"{folder} is not empty", hint="Name a folder that is empty, or that does not exist yet.")
    return folder.resolve()


def _clear(place: Stage) -> None:
    if not place.is_kept:
        discard_tree(place.folder)


NAME = "pancakes"
IDENTITY = {"user.name": "aot demo", "user.email": "demo@localhost"}


def example() -> Path:
    """The folder of the example: inside an installation, or `examples` in our repository."""
    installed = Path(__file__).with_name(NAME)
    return installed if installed.is_dir() else Path(__file__).parents[4] / "examples" / NAME


def furnish(stage: Stage, fill: Callable[[Stage], None] | None = None) -> None:
    """`fill` makes the project; None: it is the example."""
    stage.home.mkdir()
    _provide_python(stage.programs)
    if fill is not None:
        fill(stage)
    else:
        shutil.copytree(example(), stage.project, ignore=shutil.ignore_patterns("__pycache__", ".aot"))
    place = place_of(stage)
    git(place, "init", "--quiet", "--initial-branch=main")
    for key, value in IDENTITY.items():
        git(place, "config", key, value)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "Checks, and nothing that passes them")


def place_of(stage: Stage) -> Place:
    """Git ignores the user's settings here: they may be missing, or may contain anything."""
    home = ("HOME", str(stage.home)), ("XDG_CONFIG_HOME", str(stage.home / ".config"))
    return Place(stage.project, variables=(*home, *undisturbed().items()))


def undisturbed() -> dict[str, str]:
    return {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def _provide_python(folder: Path) -> None:
    """Provides `python3`, which the example calls, as the interpreter that runs aot."""
    folder.mkdir()
    program = folder / "python3"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
