"""Where Claude Code is found, and what is said where it is not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from aotloop.agents.claude.backend import Claude
from aotloop.agents.claude.program import find_program
from aotloop.errors import Unavailable
from tests.agents.assignments import an_assignment, attempt


def a_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that cannot be loaded, with a client in it."""
    package = tmp_path / "site" / "claude_agent_sdk"
    program = a_program(package / "_bundled" / "claude")
    (package / "__init__.py").write_text("raise AssertionError('loaded')\n")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PATH", os.devnull)
    return program


def test_it_is_in_the_package_and_that_is_not_loaded(sdk: Path) -> None:
    assert find_program(None) == str(sdk)
    assert "claude_agent_sdk" not in sys.modules


def test_the_one_on_path_is_preferred(sdk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = a_program(tmp_path / "bin" / "claude")
    monkeypatch.setenv("PATH", str(own.parent))
    assert find_program(None) == str(own)
    assert sdk.exists()


@pytest.mark.parametrize("configured", ["~/claude", "./home/claude", "my-claude"])
def test_the_configured_one_is_taken_whatever_else_there_is(
    sdk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configured: str
) -> None:
    assert sdk.exists()
    own = a_program(tmp_path / "home" / configured.rpartition("/")[2])
    monkeypatch.setenv("HOME", str(own.parent))
    monkeypatch.setenv("PATH", str(own.parent))
    monkeypatch.chdir(tmp_path)
    assert find_program(configured) == str(own)


def test_a_configured_one_that_is_not_there_is_not_replaced_by_another(sdk: Path) -> None:
    assert sdk.exists()
    with pytest.raises(Unavailable, match="there is no program my-claude"):
        find_program("my-claude")


def test_where_there_is_none_it_is_said_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(Unavailable, match="not installed") as error:
        attempt(Claude(), an_assignment(tmp_path))
    assert error.value.hint is not None
    assert "pip install 'aotloop[claude]'" in error.value.hint
