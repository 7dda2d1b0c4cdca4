"""The link of a run with the server: a server that is away says nothing about its queues."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from aotloop.config.remote_settings import RemoteSettings
from aotloop.remote import connection
from aotloop.remote.connection import connect
from aotloop.remote.link import Link
from tests.remote.cluster import free_port


def test_while_the_server_is_away_a_queue_has_no_takers_and_is_not_called_deserted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{free_port()}")
    monkeypatch.setattr(connection, "PATIENCE", 0.2)
    link = Link(connect=partial(connect, RemoteSettings()), run_id="run", attempts=tmp_path)
    assert asyncio.run(link.takers("any")) == 0
    assert not asyncio.run(link.is_deserted("any"))
