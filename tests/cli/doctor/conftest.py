"""Fixtures of the doctor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.agents.acp.presets import PRESETS


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are found, with git in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "echo"):
        path = next(Path(one, name) for one in os.environ["PATH"].split(":") if Path(one, name).exists())
        (folder / name).symlink_to(path.resolve())
    monkeypatch.setenv("PATH", str(folder))
    for name in {key for preset in PRESETS.values() for key in preset.keys}:
        monkeypatch.delenv(name, raising=False)
    return folder
