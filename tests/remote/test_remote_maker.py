"""Attempts on other machines keep the same contract, through a real server and a real worker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from aotloop.config.remote_settings import RemoteSettings
from aotloop.execution.attempts.maker import Lost
from aotloop.remote import remote_maker
from tests.execution.makers import MakerContract, Workshop, a_repository, worktrees_of
from tests.remote.cluster import Server
from tests.remote.workshops import a_maker, a_workshop

pytestmark = pytest.mark.temporal


@pytest.fixture
def workshop(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
    with a_workshop(tmp_path, server) as (made, _):
        yield made


def test_a_person_hears_once_that_a_queue_has_no_workers(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
    monkeypatch.setattr(remote_maker, "UNTIL_TOLD", 0.0)
    told: list[str] = []
    root = a_repository(tmp_path / "project")
    worktrees = worktrees_of(root, tmp_path / "worktrees")
    shop = Workshop(root, worktrees, a_maker(tmp_path, "run", "empty", [], RemoteSettings(), wait=2.0), [])
    monkeypatch.setattr(shop.maker, "_warn", told.append)

    async def two() -> None:
        made = await asyncio.gather(*(shop.made(shop.order("true", name=name)) for name in ("A1", "A2")))
        assert all(isinstance(lost, Lost) for lost in made)

    asyncio.run(two())
    worktrees.close()
    assert [line.split(":")[0] for line in told] == ["no worker asks for orders of the queue empty"]


class TestThroughAWorker(MakerContract):
    pass
