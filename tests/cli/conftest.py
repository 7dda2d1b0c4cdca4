"""Fixtures of the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.judged_loops import commit


@pytest.fixture
def checkout(project: Path) -> Path:
    subprocess.run(["git", "init", "-q", project], check=True)
    commit(project, "done.txt")
    return project
