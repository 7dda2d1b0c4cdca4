"""The machine: Python, git, and the user's own folders."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from aotloop.cli.doctoring.findings import Finding
from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder
from aotloop.workspace.repository import OLDEST

ABOUT = "machine"


def machine_findings() -> Iterator[Finding]:
    yield Finding(about=ABOUT, what="Python", said=platform.python_version())
    yield _git()
    yield _folder()


def _git() -> Finding:
    program = shutil.which("git")
    if program is None:
        return Finding(about=ABOUT, what="git", said="not found", ok=False, fix="Install git 2.38 or newer.")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    said = done.stdout.strip()
    numbers = re.search(r"(\d+)\.(\d+)", said)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        return Finding(about=ABOUT, what="git", said=f"{said} is too old", ok=False, fix="Install git 2.38 or newer.")
    return Finding(about=ABOUT, what="git", said=said.removeprefix("git version "))


def _folder() -> Finding:
    """What a user accepted and agreed to is kept there."""
    what = "your data folder"
    try:
        folder = data_folder("trusted")
    except Unavailable as error:
        return Finding(about=ABOUT, what=what, said=error.message, ok=False, fix=error.hint)
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not os.access(there, os.W_OK):
        said = f"{there} cannot be written to"
        fix = "Set XDG_DATA_HOME to a folder that you may write to; else you will be asked again and again."
        return Finding(about=ABOUT, what=what, said=said, ok=None, fix=fix)
    return Finding(about=ABOUT, what=what, said=str(Path(folder).parent))
