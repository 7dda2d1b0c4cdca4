"""Attempts on this machine keep the contract of makers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.attempts.local_maker import LocalMaker
from tests.execution.makers import MakerContract, Workshop, a_repository, worktrees_of


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    heard: list[str] = []
    root = a_repository(tmp_path / "project")
    worktrees = worktrees_of(root, tmp_path / "worktrees")
    maker = LocalMaker(
        isolation=worktrees,
        records=lambda name, number: tmp_path / "records" / f"{name}-{number}",
        state_file=root / ".claude" / "state.md",
        on_output=lambda _, line: heard.append(line),
        conversations=Conversations(),
    )
    yield Workshop(root, worktrees, maker, heard)
    worktrees.close()


class TestOnThisMachine(MakerContract):
    pass
