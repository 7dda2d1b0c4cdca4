"""A folder for a target that reads files; it is gone with the process."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path


def a_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="aot-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
