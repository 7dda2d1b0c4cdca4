"""The server of a test process, started when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.remote.cluster import WITHOUT, Server, a_server, program


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if program() is None:
        pytest.skip(WITHOUT)
    with a_server(tmp_path_factory.mktemp("server")) as started:
        yield started
