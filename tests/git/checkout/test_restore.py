"""A checkout is put back to what it was like, byte for byte, and what was there instead is kept."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from aotloop.git.checkout.checkout_state import difference, look_at
from aotloop.git.checkout.restore import put_back
from aotloop.git.repository import find_repository
from tests.runner.projects import Project, a_project

BYTES = b"\0\xff\r\nmine\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = a_project(tmp_path, files={"a": "a\n", "b": "b\n", "tool": "#!/bin/sh\n", "d/e": "e\n"})
    (made.root / "b").write_bytes(BYTES)
    (made.root / "mine").write_bytes(BYTES)
    (made.root / "link").symlink_to("nowhere")
    (made.root / "tool").unlink()
    return made


def facts(project: Project) -> object:
    files = [path for path in project.root.rglob("*") if ".git" not in path.parts and not path.is_dir()]
    seen = {path: os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() for path in files}
    return seen, project.git("status", "--porcelain=v2"), (project.root / ".git" / "config").read_bytes()


DEEDS = {
    "edits": "for name in a b mine; do echo theirs > $name; done",
    "removes": "rm a b mine link d/e",
    "brings back what was removed": "echo '#!/bin/sh' > tool",
    "makes links": "ln -sf /etc/passwd a",
    "turns a link": "ln -sfn elsewhere link",
    "makes files": "mkdir new; echo x > new/file",
    "names with blanks": "echo x > 'a b*c'",
    "modes": "chmod 755 a mine",
    "settings": "git config core.hooksPath /tmp",
}


@pytest.mark.parametrize("deed", DEEDS)
def test_whatever_was_done_is_undone_and_kept(project: Project, tmp_path: Path, deed: str) -> None:
    repository = find_repository(project.root)
    assert repository is not None
    before, were = look_at(repository), facts(project)
    subprocess.run(["/bin/sh", "-c", DEEDS[deed]], cwd=project.root, check=True)
    found = difference(before, look_at(repository))
    assert found.words
    assert facts(project) != were or deed == "modes"
    left = put_back(repository, before, found, tmp_path / "evidence", ("A1", 1))
    assert left == ()
    assert facts(project) == were
    assert difference(before, look_at(repository)).words == []
    if deed != "removes":
        assert any((tmp_path / "evidence").rglob("*"))


def test_nothing_done_is_nothing_found(project: Project) -> None:
    repository = find_repository(project.root)
    assert repository is not None
    assert difference(look_at(repository), look_at(repository)).words == []


def test_a_branch_that_moved_goes_back_and_what_it_took_along_is_uncommitted_again(
    project: Project, tmp_path: Path
) -> None:
    repository = find_repository(project.root)
    assert repository is not None
    before, were, head = look_at(repository), facts(project), project.git("rev-parse", "HEAD")
    project.git("commit", "-qam", "theirs")
    found = difference(before, look_at(repository))
    assert found.moved
    assert put_back(repository, before, found, tmp_path / "evidence", ("A1", 1)) == ()
    assert project.git("rev-parse", "HEAD") == head
    assert facts(project) == were
    assert project.git("log", "-1", "--format=%s", "refs/aot/strayed/A1-1") == "theirs"


def test_a_commit_of_ours_is_no_move(project: Project) -> None:
    repository = find_repository(project.root)
    assert repository is not None
    before = look_at(repository)
    project.git("commit", "-q", "--allow-empty", "-m", "landed")
    assert difference(before, look_at(repository)).moved
    assert not difference(before, look_at(repository), [project.git("rev-parse", "HEAD")]).moved


def test_any_number_of_uncommitted_files_and_odd_names_are_looked_after(project: Project, tmp_path: Path) -> None:
    repository = find_repository(project.root)
    assert repository is not None
    for number in range(200):
        (project.root / f"note {number}").write_text(f"{number}\n")
    (project.root / "odd\nname").write_text("x")
    before = look_at(repository)
    (project.root / "note 7").write_text("theirs")
    found = difference(before, look_at(repository))
    assert found.paths == ("note 7",)
    assert put_back(repository, before, found, tmp_path / "evidence", ("A1", 1)) == ()
    assert (project.root / "note 7").read_text() == "7\n"
    objects = project.git("count-objects", "-v").splitlines()[0]
    assert int(objects.split()[1]) >= 200
