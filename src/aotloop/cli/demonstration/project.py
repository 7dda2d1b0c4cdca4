"""Only this module knows where the example lies; it makes a git repository of it, as a person would have one."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from aotloop.cli.demonstration.stage import Stage
from aotloop.workspace.git import Place, git

NAME = "pancakes"
IDENTITY = {"user.name": "aot demo", "user.email": "demo@localhost"}


def example() -> Path:
    """In an installation it lies beside us; in our repository, where people look for examples."""
    installed = Path(__file__).with_name(NAME)
    return installed if installed.is_dir() else Path(__file__).parents[4] / "examples" / NAME


def furnish(stage: Stage) -> None:
    stage.home.mkdir()
    _provide_python(stage.programs)
    shutil.copytree(example(), stage.project, ignore=shutil.ignore_patterns("__pycache__", ".aot"))
    place = place_of(stage)
    git(place, "init", "--quiet", "--initial-branch=main")
    for key, value in IDENTITY.items():
        git(place, "config", key, value)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "A recipe, tests, and no cook")


def place_of(stage: Stage) -> Place:
    """None of the user's settings are heard: they need not be there, and may be anything."""
    home = ("HOME", str(stage.home)), ("XDG_CONFIG_HOME", str(stage.home / ".config"))
    return Place(stage.project, variables=(*home, *undisturbed().items()))


def undisturbed() -> dict[str, str]:
    return {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def _provide_python(folder: Path) -> None:
    """The example says `python3`; whatever that is on this machine, ours is known to work."""
    folder.mkdir()
    program = folder / "python3"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
