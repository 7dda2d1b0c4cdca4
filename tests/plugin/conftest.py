"""The clients that tests use can be found by whatever looks for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.modelserver.clients import CLAUDE, CODEX


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH that has the clients which tests use, under their names."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, client in (("claude", CLAUDE), ("codex", CODEX)):
        if client is not None:
            (folder / name).symlink_to(client)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder
