"""A worker may do what it likes within its folder; whoever only looks, may look."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.acp import permission_requests
from aotloop.agents.acp.permission_requests import decision, grounds_of, is_inside, read_file, write_file
from aotloop.agents.acp.rpc import Refused
from aotloop.agents.roles import Role
from aotloop.foreign_tree import folder_beneath
from aotloop.process.sandbox import Confinement

OPTIONS = [
    {"optionId": kind[:3], "kind": kind, "name": kind}
    for kind in ("allow_always", "allow_once", "reject_once", "reject_always")
]


def decided(role: Role, cwd: Path, kind: str | None, *paths: str, options: Any = OPTIONS) -> str:
    call = {"kind": kind, "locations": [{"path": path} for path in paths]}
    outcome = decision(role, grounds_of(cwd), {"toolCall": call, "options": options})["outcome"]
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
    assert (
        decision("worker", grounds_of(tmp_path), {"toolCall": call, "options": OPTIONS})["outcome"]["optionId"] == "rej"
    )


def test_once_is_preferred_and_nothing_is_made_up(tmp_path: Path) -> None:
    options = [{"optionId": "1", "kind": "allow_always"}, {"optionId": "2", "kind": "allow_once"}]
    assert decided("worker", tmp_path, "edit", options=options) == "2"
    assert decided("worker", tmp_path, "edit", options=options[:1]) == "1"
    assert decided("probe", tmp_path, "edit", options=options) == "cancelled"
    assert decided("worker", tmp_path, "edit", options="nonsense") == "cancelled"
    assert decision("worker", grounds_of(tmp_path), {}) == {"outcome": {"outcome": "cancelled"}}


def test_links_and_dots_do_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path)
    for path in ("..", "link", "link/x", "../treehouse", "/", "a\0b"):
        assert not is_inside(grounds_of(tmp_path / "tree"), path)
    for path in (".", "a/../b", str(tmp_path / "tree")):
        assert is_inside(grounds_of(tmp_path / "tree"), path)


def test_files_are_written_for_workers_only(tmp_path: Path) -> None:
    asked = {"path": str(tmp_path / "a"), "content": "x\r\n"}
    write_file("worker", grounds_of(tmp_path), asked)
    assert (tmp_path / "a").read_bytes() == b"x\r\n"
    with pytest.raises(Refused, match="a probe changes nothing"):
        write_file("probe", grounds_of(tmp_path), asked)
    with pytest.raises(Refused, match="not for an agent"):
        write_file("worker", grounds_of(tmp_path), {**asked, "path": ".git/hooks/x"})
    with pytest.raises(Refused, match="no content"):
        write_file("worker", grounds_of(tmp_path), {"path": "a"})


def test_too_long_a_file_is_not_handed_on(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 1_000_001)
    with pytest.raises(Refused, match="longer"):
        read_file(grounds_of(tmp_path), {"path": "a"})


def test_folders_are_made_and_links_within_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_file("worker", grounds_of(tmp_path), {"path": "link/new/a", "content": "x"})
    assert (tmp_path / "real/new/a").read_text() == "x"
    assert read_file(grounds_of(tmp_path), {"path": str(tmp_path / "link/new/a")}) == {"content": "x"}


def test_what_is_no_file_is_neither_read_nor_waited_for(tmp_path: Path) -> None:
    """Seen: a pipe that was to be written stopped the whole run."""
    os.mkfifo(tmp_path / "pipe")
    for path in ("pipe", "."):
        with pytest.raises((OSError, Refused)):
            write_file("worker", grounds_of(tmp_path), {"path": path, "content": "x"})
        with pytest.raises((OSError, Refused)):
            read_file(grounds_of(tmp_path), {"path": path})


def test_another_folder_in_the_place_of_its_own_is_not_its_own(tmp_path: Path) -> None:
    tree, home = tmp_path / "tree", tmp_path / "home"
    for folder in (tree, home):
        folder.mkdir()
    grounds = grounds_of(tree)
    tree.rename(tmp_path / "old")
    tree.symlink_to(home)
    for path in ("rc", str(home / "rc")):
        with pytest.raises((OSError, Refused)):
            write_file("worker", grounds, {"path": path, "content": "x"})
    assert not list(home.iterdir())


def test_what_its_fence_closes_is_not_written_for_it(tmp_path: Path) -> None:
    """In place, the files of the loop lie in its folder."""
    (tmp_path / ".claude").mkdir()
    grounds = grounds_of(tmp_path, Confinement(closed=(tmp_path / ".claude",)))
    with pytest.raises(Refused, match="not for an agent"):
        write_file("worker", grounds, {"path": ".claude/aot-loop-state.md", "content": "x"})
    write_file("worker", grounds, {"path": "a", "content": "x"})


def test_a_folder_that_is_exchanged_at_that_moment_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the look at a path, and before it is opened, a folder on it becomes a link to the home."""
    tree, home = tmp_path / "tree", tmp_path / "home"
    for folder in (tree / "d", home):
        folder.mkdir(parents=True)
        (folder / "secret").write_text("secret")
    grounds = grounds_of(tree)

    def exchanged_before(*given: Any, **more: Any) -> Any:
        with suppress(OSError):
            (tree / "d").rename(tree / "old")
            (tree / "d").symlink_to(home)
        return folder_beneath(*given, **more)

    monkeypatch.setattr(permission_requests, "folder_beneath", exchanged_before)
    with pytest.raises(OSError, match="directory"):
        read_file(grounds, {"path": "d/secret"})
    (tree / "d").unlink()
    (tree / "old").rename(tree / "d")
    with pytest.raises(OSError, match="directory"):
        write_file("worker", grounds, {"path": "d/new", "content": "x"})
    assert [path.name for path in home.iterdir()] == ["secret"]
