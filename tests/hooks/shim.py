"""The hook as a client starts it: a process, an object on its standard input, an object on its standard output."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.hooks.situations import SESSION
from tests.patience import PATIENCE
from tests.scripts.calling import PLUGIN

HOOK = PLUGIN / "hooks" / "aot_hook.py"


def quick() -> Any:
    """The module that decides whether a call is any of ours, in this process."""
    path = PLUGIN / "lib" / "aot_quick.py"
    spec = importlib.util.spec_from_file_location("aot_quick", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def process(
    event: str,
    told: bytes,
    *,
    cwd: Path | None = None,
    python: str = sys.executable,
    flags: tuple[str, ...] = (),
    hook: Path = HOOK,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    command = [python, "-I", "-S", *flags, str(hook), event]
    chosen = dict(os.environ) if env is None else dict(env)
    return subprocess.run(command, input=told, capture_output=True, check=False, cwd=cwd, env=chosen, timeout=PATIENCE)


def call(event: str, project: Path, **told: Any) -> dict[str, Any]:
    """What it answers; it never says anything else, and never fails."""
    payload = {"session_id": SESSION, "cwd": str(project), "hook_event_name": event, **told}
    done = process(event, json.dumps(payload).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
