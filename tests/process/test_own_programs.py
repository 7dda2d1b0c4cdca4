"""Programs that we start ourselves are found once, and never where an agent or a check can put them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.git.command import Place, git
from aotloop.process import blocking_run
from aotloop.process.output import Whole
from aotloop.process.own_programs import is_own, own_path, own_program
from aotloop.process.spec import ProcessSpec


def planted(folder: Path, name: str, canary: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\ntouch {canary}\nexit 1\n")
    program.chmod(0o755)
    return folder


PLACES = {
    "a virtual environment of a checkout": ("repo/.git", "repo/.venv/bin"),
    "packages of a checkout": ("repo/.git", "repo/web/node_modules/.bin"),
    "a linked worktree": ("repo/.git/x", "repo/bin"),
    "a project with a loop": ("project/.claude", "project/bin"),
    "a project with records": ("project/.aot", "project/a/b/c"),
    "our cache": ("cache", "cache/aot/worktrees/one/bin"),
}


@pytest.mark.parametrize("name", ["git", "bwrap", "git-lfs", "srt", "codex"])
@pytest.mark.parametrize("place", PLACES)
def test_a_program_in_a_project_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, name: str
) -> None:
    mark, where = PLACES[place]
    (tmp_path / mark).mkdir(parents=True)
    planted(tmp_path / where, name, tmp_path / "canary")
    planted(tmp_path / "usr" / "bin", name, tmp_path / "canary")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / where}:{tmp_path}/usr/bin")
    assert own_program(name) == f"{tmp_path}/usr/bin/{name}"
    assert own_path() == f"{tmp_path}/usr/bin"
    assert not is_own(f"{tmp_path / where}/{name}")
    assert is_own(f"{tmp_path}/usr/bin/{name}")


@pytest.mark.parametrize(
    ("place", "mark", "is_taken"),
    [
        (".nvm", ".git/x", True),
        (".local/share/pyenv", ".git/x", True),
        (".codex/worktrees/one", ".git", False),
        (".dotfiles", ".aot/x", False),
        ("project", ".git/x", False),
    ],
)
def test_tools_that_are_a_checkout_in_the_home_are_taken(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, place: str, mark: str, *, is_taken: bool
) -> None:
    """As nvm, pyenv and asdf install themselves: a client of such a Node is the person's own."""
    file = own_home / place / mark
    file.parent.mkdir(parents=True)
    file.touch()
    folder = planted(own_home / place / "versions/1/bin", "a-client", own_home / "canary")
    monkeypatch.setenv("PATH", str(folder))
    assert is_own(f"{folder}/a-client") == is_taken
    assert own_program("a-client") == (f"{folder}/a-client" if is_taken else None)


@pytest.mark.parametrize("folder", ["", ".", "bin", "./node_modules/.bin"])
def test_a_relative_folder_is_left_out(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin")
    assert own_path() == "/usr/bin"


def test_a_link_into_a_project_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    inside = planted(tmp_path / "repo/bin", "git", tmp_path / "canary")
    (tmp_path / "linked").symlink_to(inside)
    (tmp_path / "links").mkdir()
    (tmp_path / "links/git").symlink_to(inside / "git")
    monkeypatch.setenv("PATH", f"{tmp_path}/linked:{tmp_path}/links")
    assert own_program("git") is None


def test_what_appears_later_on_the_path_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen: an agent wrote `git` into an empty folder that stands first."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    before = own_program("git")
    git(Place(tmp_path), "version")
    planted(tmp_path / "bin", "git", tmp_path / "canary")
    git(Place(tmp_path), "version")
    assert own_program("git") == before
    assert not (tmp_path / "canary").exists()


def test_a_filter_of_git_is_not_looked_for_in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(Place(repo), "init", "--quiet")
    git(Place(repo), "config", "filter.f.clean", "harmless-filter")
    (repo / ".gitattributes").write_text("*.txt filter=f\n")
    (repo / "a.txt").write_text("a\n")
    monkeypatch.setenv("PATH", f"{repo}/.venv/bin:{os.environ['PATH']}")
    planted(repo / ".venv/bin", "harmless-filter", tmp_path / "canary")
    git(Place(repo), "add", "a.txt", accept=())
    assert not (tmp_path / "canary").exists()


def test_a_client_without_a_fence_is_started_from_outside(tmp_path: Path) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    inside = planted(tmp_path / "repo/.venv/bin", "client", tmp_path / "canary")
    outside = tmp_path / "bin"
    outside.mkdir()
    (outside / "client").write_text("#!/bin/sh\necho outside\n")
    (outside / "client").chmod(0o755)
    out = Whole()
    blocking_run.run(ProcessSpec(argv=("client",), env={"PATH": f"{inside}:{outside}:/usr/bin:/bin"}), out=out)
    assert out.text() == "outside\n"
    assert not (tmp_path / "canary").exists()
