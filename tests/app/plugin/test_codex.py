"""Codex is not there, refuses, or cannot do what is asked: one line says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.terminal import aot
from tests.plugin.test_install import NAME, ROOT


def test_without_the_client_a_line_says_how_to_get_it_and_what_it_would_be_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    ran = aot("plugin", "install", "--client", "codex")
    assert (ran.code, ran.out) == (1, "")
    assert "Codex is not installed" in ran.err
    assert f"codex plugin marketplace add {ROOT} && codex plugin add {NAME}" in ran.err
    assert len(ran.err.splitlines()) == 2


def test_codex_has_no_plugins_for_one_project() -> None:
    ran = aot("plugin", "install", "--client", "codex", "--project")
    assert (ran.code, "only for all projects" in ran.err) == (2, True)


def test_a_client_that_refuses_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "codex"
    fake.write_text("#!/bin/sh\necho 'WARNING: x' >&2\necho 'Error: plugins are disabled here' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    ran = aot("plugin", "install", "--client", "codex", "--json")
    assert ran.code == 1
    assert "Error: plugins are disabled here" in ran.json["error"]
    assert "plugins are disabled" in aot("plugin", "status").out
