"""What `aot doctor` says of other machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.app.cluster.elsewhere import remote_findings
from aotloop.config.remote_settings import RemoteSettings
from aotloop.config.schema import Config
from aotloop.remote import server_report
from tests.repositories import new_repository


async def _nothing(*_: object) -> list[object]:
    return []


@pytest.mark.parametrize("is_there", [True, False])
def test_a_password_in_the_git_address_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    monkeypatch.setattr(server_report, "server_findings", _nothing)
    address = "https://person:hunter2@127.0.0.1:1/x.git"
    if is_there:
        folder = tmp_path / "person:hunter2@here"
        folder.mkdir()
        new_repository(folder)
        address = f"file://{folder}"
    config = Config(isolation="remote", remote=RemoteSettings(git=address))
    [(what, said, is_right)] = remote_findings(config)
    assert (what, is_right, "hunter2" in said) == ("git address", is_there, False), said
