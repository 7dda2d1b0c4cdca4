"""Only addresses of loopback, and `localhost`, are this machine."""

from __future__ import annotations

import pytest

from aotloop.text.hosts import is_loopback


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.0.1", "::1", "[::1]"])
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.1", "localhost.example.org", "127.0.0.1.nip.io", "a b"])
def test_another_machine(host: str) -> None:
    assert not is_loopback(host)
