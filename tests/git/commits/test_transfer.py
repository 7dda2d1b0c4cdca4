"""Commits travel to a mirror, and trees travel back; what is damaged or not complete is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.git.commits.objects import commit_tree
from aotloop.git.commits.transfer import (
    can_fetch,
    has_commit,
    mirror,
    publish,
    receive_commit,
    receive_tree,
    thin_pack,
    tree_of,
)
from aotloop.git.repository import Repository, find_repository
from tests.repositories import new_repository


@pytest.fixture
def home(tmp_path: Path) -> Repository:
    folder = tmp_path / "project"
    folder.mkdir()
    new_repository(folder)
    (folder / "file").write_text("first\n" * 100)
    found = find_repository(folder)
    assert found is not None
    found.git("add", ".")
    found.git("commit", "--quiet", "-m", "first")
    return found


@pytest.fixture
def elsewhere(tmp_path: Path, home: Repository) -> Repository:
    made = mirror(tmp_path / "mirror")
    publish(home, base_of(home), None)
    receive_commit(made, str(home.top), base_of(home))
    return made


def base_of(home: Repository) -> str:
    return home.git("rev-parse", "HEAD").text


def changed(
    elsewhere: Repository, home: Repository, path: str = "new", text: bytes = b"new\n", mode: str = "100644"
) -> str:
    """A tree with one more file."""
    blob = elsewhere.git("hash-object", "-w", "--stdin", stdin=text).text
    entries = elsewhere.git("ls-tree", base_of(home)).out + f"{mode} blob {blob}\t{path}\n".encode()
    return elsewhere.git("mktree", stdin=entries).text


def test_a_mirror_has_the_commit_and_is_made_once(tmp_path: Path, home: Repository, elsewhere: Repository) -> None:
    assert has_commit(elsewhere, base_of(home))
    assert mirror(tmp_path / "mirror").top == elsewhere.top
    assert list(elsewhere.top.iterdir()) == [elsewhere.top / ".git"]


def test_a_tree_comes_back_in_a_small_pack_with_its_changes(home: Repository, elsewhere: Repository) -> None:
    tree = changed(elsewhere, home)
    pack = thin_pack(elsewhere, tree, base_of(home))
    received = receive_tree(home, pack, tree, base_of(home))
    assert [change.path for change in received.changes] == ["new"]
    assert len(pack) < 400
    assert tree_of(home, commit_tree(home.place, tree, base_of(home), "x\n")) == tree


def test_a_damaged_pack_is_refused(home: Repository, elsewhere: Repository) -> None:
    tree = changed(elsewhere, home)
    pack = bytearray(thin_pack(elsewhere, tree, base_of(home)))
    pack[len(pack) // 2] ^= 0xFF
    with pytest.raises(Unavailable):
        receive_tree(home, bytes(pack), tree, base_of(home))


def test_a_tree_that_is_not_in_the_pack_is_refused(home: Repository, elsewhere: Repository) -> None:
    tree = changed(elsewhere, home)
    other = changed(elsewhere, home, "other")
    with pytest.raises(Unavailable, match="is not complete"):
        receive_tree(home, thin_pack(elsewhere, tree, base_of(home)), other, base_of(home))


def test_a_tree_without_its_files_is_refused(home: Repository, elsewhere: Repository) -> None:
    tree = changed(elsewhere, home)
    alone = elsewhere.git("pack-objects", "--stdout", "-q", stdin=f"{tree}\n".encode()).out
    with pytest.raises(Unavailable):
        receive_tree(home, alone, tree, base_of(home))


@pytest.mark.parametrize("path", [".git", ".GIT", "..", "."])
def test_a_tree_with_a_name_that_git_forbids_is_refused(home: Repository, elsewhere: Repository, path: str) -> None:
    tree = changed(elsewhere, home, path)
    with pytest.raises(Unavailable):
        receive_tree(home, thin_pack(elsewhere, tree, base_of(home)), tree, base_of(home))


@pytest.mark.parametrize("target", ["/etc/passwd", "..", "later/../../x", "../file"])
def test_a_link_that_leads_out_is_refused(home: Repository, elsewhere: Repository, target: str) -> None:
    tree = changed(elsewhere, home, text=target.encode(), mode="120000")
    with pytest.raises(Unavailable, match="cannot land: new is a link"):
        receive_tree(home, thin_pack(elsewhere, tree, base_of(home)), tree, base_of(home))


def test_a_link_within_the_project_comes_back(home: Repository, elsewhere: Repository) -> None:
    tree = changed(elsewhere, home, text=b"file", mode="120000")
    found = receive_tree(home, thin_pack(elsewhere, tree, base_of(home)), tree, base_of(home))
    assert [(change.path, change.mode) for change in found.changes] == [("new", "120000")]


def test_an_address_that_cannot_be_fetched_from_is_named(tmp_path: Path, home: Repository) -> None:
    assert can_fetch(str(home.top)) is None
    assert can_fetch(str(tmp_path / "nothing")) is not None
    assert can_fetch("ext::sh -c 'touch /tmp/x'") is not None
