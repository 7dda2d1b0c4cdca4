"""What needs the shim is skipped, with the reason, where it cannot be compiled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from faults.shim import built, why_not


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the shim is."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("library")
    built(folder)
    return folder


@pytest.fixture(autouse=True)
def no_settings_of_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
