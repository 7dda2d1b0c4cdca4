"""A stage for each test with Claude Code itself; no such test where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.claudecode.stage import Stage
from tests.modelserver.clients import CLAUDE


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    if CLAUDE is None:
        pytest.skip("no Claude Code: AOT_TEST_CLAUDE or claude-agent-sdk")
    made = Stage(tmp_path, monkeypatch, CLAUDE)
    yield made
    for left in made.living():
        left.kill()
