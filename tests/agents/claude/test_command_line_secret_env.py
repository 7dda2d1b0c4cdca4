"""What only the client needs is taken from its commands; what the operator passes on is not."""

from __future__ import annotations

import subprocess
from pathlib import Path

from aotloop.agents.claude.command_line import hide, script_of
from tests.agents.assignments import an_assignment


def left(
    folder: Path,
    env: dict[str, str],
    own: tuple[str, ...],
    pass_env: tuple[str, ...] = (),
    given: dict[str, str] | None = None,
) -> str:
    assignment = an_assignment(folder, env=given or {})
    assignment.scratch.mkdir()
    hide(assignment, env, own, pass_env)
    words = ["/bin/sh", "-c", f". {script_of(assignment)}; env"]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout


def test_keys_and_what_else_is_the_clients_own_are_gone(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "KEY": "k", "AWS_SECRET": "s", "AWS_ODD-NAME": "x", "OTHER": "o"}
    seen = left(tmp_path, env, ("KEY", "AWS_*", "PATH"))
    assert "PATH=/usr/bin:/bin" in seen, "every agent's"
    assert "OTHER=o" in seen
    assert "KEY=" not in seen
    assert "AWS_SECRET" not in seen


def test_what_is_passed_on_or_given_for_this_attempt_stays(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "KEY": "k", "AWS_REGION": "r", "TOKEN": "t"}
    seen = left(tmp_path, env, ("KEY", "AWS_*", "TOKEN"), ("AWS_*",), given={"TOKEN": "t"})
    assert "AWS_REGION=r" in seen
    assert "TOKEN=t" in seen
    assert "KEY=" not in seen
