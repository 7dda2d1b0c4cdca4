"""The doctor says what can confine commands."""

from __future__ import annotations

from pathlib import Path

from tests.cli.doctor.findings import a_client, found
from tests.cli.terminal import aot


def test_what_can_confine_commands_is_told_and_is_in_nobodys_way(project: Path, clients: Path) -> None:
    assert project.exists()
    told = {one["what"]: one for one in aot("doctor", "--json").json["findings"] if one["about"] == "sandbox"}
    assert set(told) == {"the checkout", "commands of Codex", "commands of Claude Code"}
    assert told["commands of Claude Code"]["said"].endswith("which needs bwrap and socat")
    assert told["commands of Codex"]["ok"] is None, "without `unshare` it is unknown"
    a_client(clients, "unshare", "")
    assert found()["commands of Codex"]["ok"] is True
    (clients / "unshare").write_text("#!/bin/sh\nexit 1\n")
    forbidden = found()["commands of Codex"]
    assert forbidden["ok"] is None
    assert "user namespaces" in forbidden["fix"]
    assert aot("doctor").code == 0
