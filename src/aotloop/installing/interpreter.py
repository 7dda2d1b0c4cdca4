"""A copied plugin finds this installation by a line in the user's data folder, which aot_installation.py reads."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from aotloop.trust.folder import data_folder, keep

_FILE = "interpreter"


def remember_interpreter() -> None:
    """Raises Unavailable."""
    keep(data_folder(_FILE), os.fsencode(Path(sys.executable).absolute()) + b"\n", "where aotloop is installed")


def forget_interpreter() -> None:
    data_folder(_FILE).unlink(missing_ok=True)
