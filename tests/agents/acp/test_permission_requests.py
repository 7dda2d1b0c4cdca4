"""A worker may do what it likes within its folder; whoever only looks, may look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.acp.permission_requests import decision, is_inside, read_file, write_file
from aotloop.agents.acp.rpc import Refused
from aotloop.agents.roles import Role

OPTIONS = [
    {"optionId": kind[:3], "kind": kind, "name": kind}
    for kind in ("allow_always", "allow_once", "reject_once", "reject_always")
]


def decided(role: Role, cwd: Path, kind: str | None, *paths: str, options: Any = OPTIONS) -> str:
    call = {"kind": kind, "locations": [{"path": path} for path in paths]}
    outcome = decision(role, cwd, {"toolCall": call, "options": options})["outcome"]
    return str(outcome.get("optionId", outcome["outcome"]))


@pytest.mark.parametrize("kind", ["read", "edit", "delete", "execute", "fetch", "other", None])
def test_a_worker_may_within_its_folder(tmp_path: Path, kind: str | None) -> None:
    assert decided("worker", tmp_path, kind) == "all"
    assert decided("worker", tmp_path, kind, str(tmp_path / "a"), "b") == "all"
    assert decided("worker", tmp_path, kind, "a", "/etc/passwd") == "rej"


@pytest.mark.parametrize("role", ["probe", "verifier"])
def test_others_may_look(tmp_path: Path, role: Role) -> None:
    for kind in ("read", "search", "think", "fetch"):
        assert decided(role, tmp_path, kind) == "all"
    for other in ("edit", "delete", "move", "execute", "switch_mode", "other", "new", None):
        assert decided(role, tmp_path, other) == "rej"


def test_what_a_change_would_change_counts_too(tmp_path: Path) -> None:
    call = {"kind": "edit", "content": [{"type": "diff", "path": "/etc/passwd", "newText": ""}]}
    assert decision("worker", tmp_path, {"toolCall": call, "options": OPTIONS})["outcome"]["optionId"] == "rej"


def test_once_is_preferred_and_nothing_is_made_up(tmp_path: Path) -> None:
    options = [{"optionId": "1", "kind": "allow_always"}, {"optionId": "2", "kind": "allow_once"}]
    assert decided("worker", tmp_path, "edit", options=options) == "2"
    assert decided("worker", tmp_path, "edit", options=options[:1]) == "1"
    assert decided("probe", tmp_path, "edit", options=options) == "cancelled"
    assert decided("worker", tmp_path, "edit", options="nonsense") == "cancelled"
    assert decision("worker", tmp_path, {}) == {"outcome": {"outcome": "cancelled"}}


def test_links_and_dots_do_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path)
    for path in ("..", "link", "link/x", "../treehouse", "/", "a\0b"):
        assert not is_inside(tmp_path / "tree", path)
    for path in (".", "a/../b", str(tmp_path / "tree")):
        assert is_inside(tmp_path / "tree", path)


def test_files_are_written_for_workers_only(tmp_path: Path) -> None:
    asked = {"path": str(tmp_path / "a"), "content": "x\r\n"}
    write_file("worker", tmp_path, asked)
    assert (tmp_path / "a").read_bytes() == b"x\r\n"
    with pytest.raises(Refused, match="a probe changes nothing"):
        write_file("probe", tmp_path, asked)
    with pytest.raises(Refused, match="git"):
        write_file("worker", tmp_path, {**asked, "path": ".git/hooks/x"})
    with pytest.raises(Refused, match="no content"):
        write_file("worker", tmp_path, {"path": "a"})


def test_too_long_a_file_is_not_handed_on(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 1_000_001)
    with pytest.raises(Refused, match="longer"):
        read_file(tmp_path, {"path": "a"})
