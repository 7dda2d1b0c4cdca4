"""Submodules of a worktree come from the person's checkout."""

from __future__ import annotations

import shutil
from pathlib import Path

from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import make_checkout, opened, save, sh, write


def test_submodules_come_from_the_persons_checkout(tmp_path: Path, checkout: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "vendor/library")
    write(checkout / "vendor" / "library", {"lib.txt": "never pushed\n"})
    sh(checkout / "vendor" / "library", "config", "user.name", "x")
    sh(checkout / "vendor" / "library", "config", "user.email", "x")
    save(checkout / "vendor" / "library")
    commit = save(checkout)
    shutil.rmtree(library)  # the network is away
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(commit)
        assert (worktree.path / "vendor" / "library" / "lib.txt").read_text() == "never pushed\n"
        write(worktree.path, {"vendor/library/lib.txt": "agent\n", "vendor/library/new": "x"})
        pool.give_back(worktree)
        after = pool.take(commit)
        assert (after.path / "vendor" / "library" / "lib.txt").read_text() == "never pushed\n"
        assert not (after.path / "vendor" / "library" / "new").exists()
    assert sh(checkout, "status", "--porcelain") == ""


def test_a_submodule_that_the_person_does_not_use_is_not_fetched(tmp_path: Path, checkout: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    commit = save(checkout)
    clone = tmp_path / "clone"
    sh(tmp_path, "clone", "-q", str(checkout), str(clone))
    with Pool(opened(clone), tmp_path / "pool") as pool:
        pool.give_back(pool.take(commit))
        worktree = pool.take(commit)
        assert list((worktree.path / "library").iterdir()) == []


def test_a_submodule_within_a_submodule_comes_from_there_too(tmp_path: Path, checkout: Path) -> None:
    inner = make_checkout(tmp_path / "inner", {"inner.txt": "inner\n"})
    outer = make_checkout(tmp_path / "outer", {"outer.txt": "outer\n"})
    allowed = ("-c", "protocol.file.allow=always")
    sh(outer, *allowed, "submodule", "--quiet", "add", str(inner), "inner")
    save(outer)
    sh(checkout, *allowed, "submodule", "--quiet", "add", str(outer), "outer")
    sh(checkout, *allowed, "submodule", "--quiet", "update", "--init", "--recursive")
    commit = save(checkout)
    shutil.rmtree(inner)
    shutil.rmtree(outer)
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(commit)
        assert (worktree.path / "outer" / "inner" / "inner.txt").read_text() == "inner\n"
        pool.give_back(worktree)
        assert pool.take(commit).path == worktree.path


def test_the_persons_settings_of_a_submodule_stay(tmp_path: Path, checkout: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    commit = save(checkout)
    before = (checkout / ".git" / "config").read_text()
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        pool.take(commit)
    assert (checkout / ".git" / "config").read_text() == before
    assert sh(checkout / "library", "remote", "get-url", "origin") == str(library)
