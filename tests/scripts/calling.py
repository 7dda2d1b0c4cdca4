"""Calls the plugin's scripts as an agent does: a process each, from the project's folder, JSON on standard output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from aotloop.app.session.attempt_token import token_now
from aotloop.errors import AotError
from aotloop.statefile.locate import find_state_file
from aotloop.statefile.store import Store
from tests.warm import start

PLUGIN = Path(__file__).parents[2] / "plugin"
SCRIPTS = {path.stem: path for path in sorted(PLUGIN.glob("skills/*/scripts/*.py"))}


def call(name: str, *words: str, code: int = 0, python: str = sys.executable, **more: Any) -> dict[str, Any]:
    env, cwd = more.pop("env", os.environ), more.pop("cwd", None)
    if name == "integrate" and "--token" not in words:
        atom = words[words.index("--") + 1] if "--" in words else words[0] if words else ""
        words = (*token_for(atom, cwd), *words)
    if more or python != sys.executable:
        done = subprocess.run(
            [python, str(SCRIPTS[name]), *words], capture_output=True, check=False, env=env, cwd=cwd, text=True, **more
        )
        ended, out, err = done.returncode, done.stdout, done.stderr
    else:
        process = start(words, cwd or Path.cwd(), env, SCRIPTS[name])
        out, err = process.communicate()
        ended = process.wait()
    assert ended == code, (out, err)
    assert err == ""
    lines = out.splitlines()
    assert len(lines) == 1, out
    result = json.loads(lines[0])
    assert isinstance(result, dict)
    return result


def token_for(atom: str, cwd: Path | None = None) -> tuple[str, ...]:
    """As `update_atom … in_progress` would have told it."""
    with suppress(AotError, StopIteration):
        return ("--token", token_now(Store(find_state_file(start=str(cwd or Path.cwd()))), atom))
    return ()
