"""Only this module starts git. It hears nothing of the caller's git variables and never asks for a password."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PATIENCE = 30


def head_of(folder: str | Path) -> str | None:
    """The commit that is checked out; None where there is no repository, no commit, or no git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "--verify", "--quiet", "HEAD"],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode().strip() if done.returncode == 0 else None


def _environment() -> dict[str, str]:
    """A GIT_DIR of a surrounding hook would make git speak of another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
