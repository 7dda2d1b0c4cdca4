"""A checkout with three files, its repository, and a pool beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aotloop.git.repository import Repository
from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import make_checkout, opened


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


@pytest.fixture
def repository(checkout: Path) -> Repository:
    return opened(checkout)


@pytest.fixture
def pool(repository: Repository, tmp_path: Path) -> Iterator[Pool]:
    with Pool(repository, tmp_path / "pool") as one:
        yield one
