"""Attempts on other machines keep the same contract, through a real server and a real worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.execution.makers import MakerContract, Workshop
from tests.remote.cluster import Server
from tests.remote.workshops import a_workshop

pytestmark = pytest.mark.temporal


@pytest.fixture
def workshop(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
    with a_workshop(tmp_path, server) as (made, _):
        yield made


class TestThroughAWorker(MakerContract):
    pass
