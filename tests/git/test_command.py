"""How git is started: deaf to the surroundings, silent, patient with locks."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.git.command import Place, git, head_of
from tests.git.checkouts import head, make_checkout, opened, sh, write
from tests.patience import FOREVER, PATIENCE, until


def test_the_head_of_a_folder_without_a_repository_is_none(tmp_path: Path) -> None:
    assert head_of(tmp_path) is None
    assert head_of(tmp_path / "missing") is None


def test_the_head_is_found_from_any_folder_of_the_checkout(checkout: Path) -> None:
    assert head_of(checkout / "src") == head(checkout)
    assert head_of(str(checkout)) == head(checkout)


def test_variables_of_a_surrounding_hook_are_not_heard(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = head(checkout)
    other = make_checkout(tmp_path / "other", {"x": "x"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert head_of(checkout) == expected
    assert opened(checkout).top == checkout


def test_settings_in_the_home_folder_are_not_heard(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"home/.gitconfig": f"[alias]\n\tx = !touch {tmp_path}/ran\n", "home/.config/git/ignore": "new"})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(Unavailable):
        git(Place(checkout), "x")
    assert not (tmp_path / "ran").exists()


def test_nothing_stands_in_the_place_of_a_commit_or_a_file(checkout: Path) -> None:
    """`git replace` and grafts exchange what a name stands for: a protected test would be the same, and another."""
    commit, blob = head(checkout), sh(checkout, "rev-parse", "HEAD:a.txt").strip()
    before = git(Place(checkout), "log", "--format=%H %P").out
    write(checkout, {"weak": "weak\n", ".git/info/grafts": f"{commit}\n"})
    sh(checkout, "replace", blob, sh(checkout, "hash-object", "-w", "weak").strip())
    assert sh(checkout, "cat-file", "-p", blob) == "weak"
    assert git(Place(checkout), "cat-file", "-p", blob).text == "a"
    assert git(Place(checkout), "log", "--format=%H %P").out == before


def test_a_missing_git_is_said_with_what_to_do(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unavailable, match="git cannot be started") as caught:
        git(Place(checkout), "status")
    assert caught.value.hint == "Install git 2.38 or newer."
    assert head_of(checkout) is None


def test_a_failure_is_told_in_gits_own_words(checkout: Path) -> None:
    with pytest.raises(Unavailable, match=r"git cat-file failed in .*: Not a valid object name nonsense"):
        git(Place(checkout), "cat-file", "-p", "nonsense")


@pytest.fixture
def after_a_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[], object]], None]]:
    """Has something done when git has been tried once, in vain."""
    tries, script = tmp_path / "tries", tmp_path / "bin" / "git"
    script.parent.mkdir()
    real = shutil.which("git")
    script.write_text(f'#!/bin/sh\n{real} "$@"\ncode=$?\necho $code >> {tries}\nexit $code\n')
    script.chmod(0o755)
    started: list[threading.Thread] = []

    def start(action: Callable[[], object]) -> None:
        def act() -> None:
            until(tries.exists)
            action()

        started.append(threading.Thread(target=act))
        started[-1].start()
        monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)

    yield start
    for thread in started:
        thread.join(PATIENCE)
    assert tries.read_text().split()[0] != "0"


def test_a_lock_is_waited_for(checkout: Path, after_a_try: Callable[[Callable[[], object]], None]) -> None:
    lock = checkout / ".git" / "index.lock"
    lock.touch()
    (checkout / "new").write_text("new")
    after_a_try(lock.unlink)
    git(Place(checkout), "add", "new")
    assert sh(checkout, "diff", "--cached", "--name-only") == "new"


def test_a_lock_that_stays_is_named(checkout: Path) -> None:
    lock = checkout / ".git" / "index.lock"
    lock.touch()
    (checkout / "new").write_text("new")
    with pytest.raises(Unavailable, match=r"another git process keeps .*/index\.lock") as caught:
        git(Place(checkout), "add", "new", lock_patience=0.1)
    assert caught.value.hint is not None
    assert "remove that file" in caught.value.hint
    assert lock.exists()


def test_a_ref_lock_is_waited_for_too(checkout: Path, after_a_try: Callable[[Callable[[], object]], None]) -> None:
    (checkout / ".git" / "refs" / "aot").mkdir()
    lock = checkout / ".git" / "refs" / "aot" / "x.lock"
    lock.touch()
    after_a_try(lock.unlink)
    git(Place(checkout), "update-ref", "refs/aot/x", "HEAD")
    assert sh(checkout, "rev-parse", "refs/aot/x") == head(checkout)


def test_a_worktree_that_is_just_being_made_is_waited_for(
    checkout: Path, tmp_path: Path, after_a_try: Callable[[Callable[[], object]], None]
) -> None:
    half = checkout / ".git" / "worktrees" / "half"
    half.mkdir(parents=True)
    (half / "gitdir").write_text(f"{tmp_path}/half/.git\n")
    (half / "commondir").touch()
    after_a_try(lambda: (half / "commondir").write_text("../..\n"))
    git(Place(checkout), "worktree", "add", "--detach", str(tmp_path / "whole"))
    assert (tmp_path / "whole" / "a.txt").exists()


def test_a_git_that_hangs_is_ended(checkout: Path) -> None:
    sh(checkout, "config", "alias.hang", f"!sleep {FOREVER}")
    with pytest.raises(Unavailable, match="did not end within"):
        git(Place(checkout), "hang", longest=0.3)


def test_paths_survive_whatever_characters_they_have(checkout: Path) -> None:
    names = ["with space", "ümläut", "new\nline", 'quote"', "tab\t", "back\\slash"]
    for name in names:
        (checkout / name).write_text("x")
    found = git(Place(checkout), "ls-files", "-z", "--others").fields
    assert sorted(found) == sorted(names)
