"""Every file of the checkout that git would read as settings is known, and every link on the way to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.git.command import Place, git
from aotloop.git.repository import find_repository


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("../settings/git", "settings/git"),
        ("../settings/nested", "settings/more/inner"),
        ("../link", "link"),
        ("../link", "settings/git"),
        ("../folder/git", "folder"),
        ("../missing", "missing"),
    ],
)
def test_no_way_to_an_included_file_is_changed_by_an_attempt(tmp_path: Path, path: str, changed: str) -> None:
    """A file that an included file includes, and links on the way."""
    (tmp_path / "repo/settings/more").mkdir(parents=True)
    repo = tmp_path / "repo"
    git(Place(repo), "init", "--quiet")
    (repo / "settings/git").write_text("[user]\n")
    (repo / "settings/nested").write_text("[include]\n\tpath = more/inner\n")
    (repo / "settings/more/inner").write_text("[user]\n")
    (repo / "link").symlink_to("settings/git")
    (repo / "folder").symlink_to("settings")
    git(Place(repo), "config", "include.path", path)
    repository = find_repository(repo)
    assert repository is not None
    assert repo.resolve() / changed in repository.included
