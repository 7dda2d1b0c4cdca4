"""The doctor names what the machine has and lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.cli.doctor.machine_checks import _extra
from aotloop.extras import install_command
from tests.cli.doctor.findings import found
from tests.loops import a_loop, atom, write_loop


def test_a_machine_without_git_is_told_so(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    monkeypatch.setenv("PATH", str(tmp_path))
    told = found()
    assert (told["git"]["ok"], told["git"]["fix"]) == (False, "Install git 2.38 or newer.")


def test_extras_are_told_with_how_to_install_them(project: Path) -> None:
    assert project.exists()
    told = found()
    assert not {"aotloop[dev]", "aotloop[fuzz]"} & set(told)
    extra = told["aotloop[claude]"]
    assert extra["said"].startswith("claude-agent-sdk ") or install_command("claude") in extra["fix"]
    missing = _extra("claude", ["no-such-package-anywhere", "msgspec"])
    assert (missing.ok, missing.result) == (None, "not installed: no-such-package-anywhere")
    assert missing.fix == f"Optional: {install_command('claude')}"
