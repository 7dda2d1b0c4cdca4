"""The rules are offered with what they permit; only a person's yes on a terminal adds them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.terminal import spawn, terminal

CLIENT = "#!/bin/sh\ncase \"$*\" in *list*) echo '[]';; esac\n"
"""Stands in for Claude Code, whose own part in an installation is tried in tests/plugin."""


@pytest.fixture
def settings(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    client = tmp_path / "bin" / "claude"
    client.parent.mkdir()
    client.write_text(CLIENT)
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{client.parent}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return own_home / ".claude" / "settings.json"


@pytest.mark.parametrize(
    ("answer", "is_added"), [("y", True), ("yes", True), ("", False), ("n", False), ("no!", False)]
)
def test_only_a_yes_adds_them(settings: Path, answer: str, is_added: bool) -> None:
    with terminal("plugin", "install") as screen:
        screen.wait_for("[y/N]")
        said = " ".join(screen.text.split())
        screen.type(f"{answer}\n")
        assert screen.end() == 0
    assert "run the checks that you accepted" in said
    assert "verify_command.py" in said
    assert "update_atom.py" in said
    assert settings.exists() == is_added
    if is_added:
        assert len(json.loads(settings.read_text())["permissions"]["allow"]) > 15
        assert spawn("plugin", "uninstall").code == 0
        assert json.loads(settings.read_text()) == {}


def test_without_a_terminal_and_in_an_agent_s_session_nobody_is_asked_and_nothing_is_added(settings: Path) -> None:
    done = spawn("plugin", "install")
    assert done.code == 0
    assert "They were not added" in " ".join(done.err.split())
    with terminal("plugin", "install", environ={"CLAUDE_CODE_SESSION_ID": "one"}) as screen:
        assert screen.end() == 0
    assert "They were not added" in " ".join(screen.text.split())
    told = spawn("plugin", "install", "--json").json
    assert told["allow_rules"]["file"] == str(settings)
    assert len(told["allow_rules"]["missing"]) > 15
    assert not settings.exists()
