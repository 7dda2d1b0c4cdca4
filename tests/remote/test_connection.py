"""A server on another machine needs a key; profiles are Temporal's own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aotloop.config.remote_settings import RemoteSettings
from aotloop.errors import Unavailable
from aotloop.remote.connection import connect, is_here, server_of


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("localhost:7233", True),
        ("127.0.0.1:7233", True),
        ("127.8.0.1:1", True),
        ("[::1]:7233", True),
        ("10.0.0.1:7233", False),
        ("localhost.example.org:7233", False),
        ("0.0.0.0:7233", False),
        ("cloud.example.org:7233", False),
    ],
)
def test_only_loopback_is_this_machine(address: str, expected: bool) -> None:
    assert is_here(address) is expected


def test_a_server_elsewhere_is_refused_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "temporal.example.org:7233")
    with pytest.raises(Unavailable, match="no key to seal"):
        asyncio.run(connect(RemoteSettings()))


def test_a_profile_says_where_the_server_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "temporal.toml"
    file.write_text('[profile.team]\naddress = "t.example.org:7233"\nnamespace = "loops"\napi_key = "secret"\n')
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(file))
    found = server_of(RemoteSettings(profile="team", key_file="/key"))
    assert (found.address, found.namespace, found.has_key) == ("t.example.org:7233", "loops", True)
    assert "secret" not in repr(found)
    with pytest.raises(Unavailable, match="profile nobody cannot be read"):
        server_of(RemoteSettings(profile="nobody"))


def test_an_api_key_of_a_profile_is_used_and_only_over_an_encrypted_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("0f" * 32)
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "temporal.toml").write_text('[profile.team]\naddress = "t.example.org:7233"\napi_key = "secret"\n')
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(tmp_path / "temporal.toml"))
    settings = RemoteSettings(profile="team", key_file=str(tmp_path / "key"))

    async def connected() -> tuple[str | None, bool]:
        client = await connect(settings, lazily=True)
        return client.api_key, bool(client.service_client.config.tls)

    assert asyncio.run(connected()) == ("secret", True)
