"""Calls the plugin's scripts as an agent does: a process each, from the project's folder, JSON on standard output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PLUGIN = Path(__file__).parents[2] / "plugin"
SCRIPTS = {path.stem: path for path in sorted(PLUGIN.glob("skills/*/scripts/*.py"))}


def call(name: str, *words: str, code: int = 0, python: str = sys.executable, **more: Any) -> dict[str, Any]:
    done = subprocess.run(
        [python, str(SCRIPTS[name]), *words], capture_output=True, check=False, env=more.pop("env", os.environ), **more
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stderr == b""
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stdout
    result = json.loads(lines[0])
    assert isinstance(result, dict)
    return result
