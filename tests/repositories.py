"""New git repositories for tests: made once, then copied, because `git init` and `git config` cost more than a copy."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from atexit import register
from functools import cache
from pathlib import Path

IDENTITY = {"user.name": "A Person", "user.email": "person@example.org"}

QUIET = {"gc.auto": "0", "maintenance.auto": "false"}
"""No commit of a test starts another process, which would find nothing to tidy up."""


def new_repository(folder: Path) -> None:
    """An empty one in this folder, on an unborn branch `main`, with the identity of a person."""
    shutil.copytree(_template() / ".git", folder / ".git")


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="aot-template-"))
    register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=folder, check=True)
    for key, value in {**IDENTITY, **QUIET}.items():
        subprocess.run(["git", "config", key, value], cwd=folder, check=True)
    return folder
