"""A stage for each test with Claude Code itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.claude.stage import Stage
from tests.modelserver.clients import CLAUDE, there


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(tmp_path, monkeypatch, there(CLAUDE))
    yield made
    for left in made.living():
        left.kill()
