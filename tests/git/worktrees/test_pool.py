"""Worktrees are kept, proven clean, shared by nobody, and gone at the end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.git.repository import Repository
from aotloop.git.worktrees.pool import Pool, default_folder
from aotloop.git.worktrees.worktree import Worktree
from tests.git.checkouts import facts, head, make_checkout, nested, opened, save, sh, write


def contents(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] != ".git")
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def again(pool: Pool, worktree: Worktree, commit: str | None = None) -> Worktree:
    pool.give_back(worktree)
    return pool.take(commit or worktree.base)


def test_a_worktree_is_the_commit_and_nothing_else(pool: Pool, checkout: Path) -> None:
    write(checkout, {"untracked": "x", "a.txt": "the person is editing\n"})
    worktree = pool.take(head(checkout))
    assert contents(worktree.path) == {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}
    assert worktree.cwd == worktree.path
    assert sh(worktree.path, "rev-parse", "HEAD") == worktree.base == head(checkout)
    assert sh(worktree.path, "status", "--porcelain") == ""
    assert sh(worktree.path, "branch", "--show-current") == ""


def test_a_project_in_a_sub_directory_is_worked_on_there(checkout: Path, tmp_path: Path) -> None:
    with Pool(opened(checkout / "src"), tmp_path / "pool") as pool:
        worktree = pool.take(head(checkout))
        assert worktree.cwd == worktree.path / "src"
        assert (worktree.cwd / "c.txt").read_text() == "c\n"


def test_a_sub_directory_that_no_commit_has_is_made(checkout: Path, tmp_path: Path) -> None:
    (checkout / "fresh").mkdir()
    with Pool(opened(checkout / "fresh"), tmp_path / "pool") as pool:
        assert pool.take(head(checkout)).cwd.is_dir()
        worktree = pool.take(head(checkout))
        assert again(pool, worktree).cwd.is_dir()


def test_a_kept_worktree_is_used_again_at_another_commit(pool: Pool, checkout: Path) -> None:
    first = pool.take(head(checkout))
    write(checkout, {"a.txt": "newer\n", "src/d.txt": "d\n"})
    (checkout / "b.txt").unlink()
    newer = save(checkout)
    second = again(pool, first, newer)
    assert second.path == first.path
    assert contents(second.path) == {"a.txt": "newer\n", "src/c.txt": "c\n", "src/d.txt": "d\n"}
    assert sh(second.path, "rev-parse", "HEAD") == newer


def test_nothing_an_attempt_leaves_reaches_the_next_but_ignored_files_do(pool: Pool, checkout: Path) -> None:
    write(checkout, {".gitignore": "node_modules/\n"})
    worktree = pool.take(save(checkout))
    write(worktree.path, {"a.txt": "x", "new/deep/file": "x", "node_modules/lib.js": "installed", "src/new": "x"})
    (worktree.path / "b.txt").unlink()
    (worktree.path / "empty" / "folder").mkdir(parents=True)
    (worktree.path / "src" / "c.txt").chmod(0o755)
    (worktree.path / "link").symlink_to("/etc")
    after = again(pool, worktree)
    assert after.path == worktree.path
    assert contents(after.path) == {
        ".gitignore": "node_modules/\n",
        "a.txt": "a\n",
        "b.txt": "b\n",
        "src/c.txt": "c\n",
        "node_modules/lib.js": "installed",
    }
    assert not (after.path / "empty").exists()
    assert not (after.path / "link").is_symlink()
    assert (after.path / "src" / "c.txt").stat().st_mode & 0o111 == 0


def test_files_that_an_agent_ignored_for_itself_do_not_stay(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    write(worktree.path, {".gitignore": "hidden\n", "hidden": "x"})
    assert not (again(pool, worktree).path / "hidden").exists()


@pytest.mark.parametrize("folder", ["", "src/"])
def test_an_ignore_file_that_hides_itself_and_others_does_not_stay(pool: Pool, checkout: Path, folder: str) -> None:
    worktree = pool.take(head(checkout))
    write(worktree.path, {f"{folder}.gitignore": "*\n", f"{folder}hidden": "x", f"{folder}deep/er": "x"})
    after = again(pool, worktree)
    assert contents(after.path) == {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}


def test_changes_that_an_agent_hides_from_git_do_not_stay(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    write(worktree.path, {"a.txt": "hidden\n", "b.txt": "hidden\n"})
    sh(worktree.path, "update-index", "--assume-unchanged", "a.txt")
    sh(worktree.path, "update-index", "--skip-worktree", "b.txt")
    after = again(pool, worktree)
    assert contents(after.path) == {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}
    assert sh(after.path, "ls-files", "-v") == "H a.txt\nH b.txt\nH src/c.txt"


def two_that_conflict(worktree: Worktree) -> str:
    """Two commits on the same base; the second is checked out, the first is returned."""
    write(worktree.path, {"a.txt": "one\n"})
    one = save(worktree.path)
    sh(worktree.path, "checkout", "-q", "--detach", worktree.base)
    write(worktree.path, {"a.txt": "two\n"})
    save(worktree.path)
    return one


def test_an_unfinished_merge_is_forgotten(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    one = two_that_conflict(worktree)
    sh(worktree.path, "merge", one, check=False)
    assert (worktree.path / ".git" / "MERGE_HEAD").exists()
    after = again(pool, worktree)
    assert after.path == worktree.path
    assert "clean" in sh(after.path, "status")
    assert "merg" not in sh(after.path, "status")


def test_a_running_rebase_is_forgotten(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    one = two_that_conflict(worktree)
    sh(worktree.path, "rebase", one, check=False)
    assert (worktree.path / ".git" / "rebase-merge").exists()
    after = again(pool, worktree)
    assert after.path == worktree.path
    assert "rebase" not in sh(after.path, "status")
    assert contents(after.path)["a.txt"] == "a\n"


def test_locks_that_a_killed_agent_left_are_gone(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    (worktree.path / ".git" / "index.lock").touch()
    (worktree.path / ".git" / "HEAD.lock").touch()
    after = again(pool, worktree)
    assert after.path == worktree.path
    sh(after.path, "add", "-A")


def test_a_deleted_git_file_is_put_back(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    shutil.rmtree(worktree.path / ".git")
    after = again(pool, worktree)
    assert sh(after.path, "status", "--porcelain") == ""


def test_a_repository_in_place_of_the_git_file_is_removed(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    shutil.rmtree(worktree.path / ".git")
    sh(worktree.path, "init", "-q")
    write(worktree.path, {"a.txt": "mine now"})
    after = again(pool, worktree)
    assert sh(after.path, "rev-parse", "HEAD") == head(checkout)


def test_nested_repositories_are_removed(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    make_checkout(worktree.path / "src" / "nested")
    sh(worktree.path, "init", "-q", "bare-nested")
    after = again(pool, worktree)
    assert contents(after.path) == {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}


@pytest.mark.parametrize("damage", ["files", "registration", "depth"])
def test_a_damaged_worktree_is_replaced(pool: Pool, checkout: Path, damage: str) -> None:
    worktree = pool.take(head(checkout))
    if damage == "files":
        shutil.rmtree(worktree.path)
    elif damage == "registration":
        shutil.rmtree(worktree.own)
    else:
        nested(worktree.path, 2_500)
    after = again(pool, worktree)
    assert after.path != worktree.path
    assert not worktree.path.exists()
    assert not worktree.own.exists()
    assert contents(after.path)["a.txt"] == "a\n"


def test_what_an_agent_does_with_git_reaches_nobody(pool: Pool, checkout: Path) -> None:
    sh(checkout, "branch", "persons-own")
    before = facts(checkout)["refs"]
    worktree = pool.take(head(checkout))
    sh(worktree.path, "checkout", "-q", "persons-own")
    write(worktree.path, {"a.txt": "x"})
    save(worktree.path)
    sh(worktree.path, "checkout", "-q", "-b", "feature")
    sh(worktree.path, "worktree", "add", "-q", "-b", "helper", "helper")
    sh(worktree.path, "config", "core.hooksPath", "/tmp")
    sh(worktree.path, "gc", "-q", "--prune=now")
    pool.give_back(worktree)
    assert facts(checkout)["refs"] == before
    assert sh(checkout, "config", "--default", "", "core.hooksPath") == ""
    again = pool.take(head(checkout))
    assert (again.path, sh(again.path, "branch", "--show-current")) == (worktree.path, "")
    assert sh(again.path, "log", "-1", "--format=%H", "persons-own") == head(checkout)


def test_hooks_of_the_person_do_not_run(pool: Pool, checkout: Path, tmp_path: Path) -> None:
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        hook = checkout / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\nexit 1\n")
        hook.chmod(0o755)
    again(pool, pool.take(head(checkout)))
    assert list(tmp_path.glob("ran-*")) == []


def test_an_empty_repository_has_worktrees_too(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "empty", {})
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(None)
        assert contents(worktree.path) == {}
        pool.give_back(worktree)
        assert pool.take(None) == worktree
    assert sh(checkout, "for-each-ref") == ""
    assert sh(checkout, "worktree", "list").count("\n") == 0


def test_line_endings_that_are_converted_are_no_changes(checkout: Path, tmp_path: Path) -> None:
    sh(checkout, "config", "core.autocrlf", "true")
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(head(checkout))
        assert (worktree.path / "a.txt").read_bytes() == b"a\r\n"
        assert again(pool, worktree).path == worktree.path


def test_files_that_exports_leave_out_are_there(pool: Pool, checkout: Path) -> None:
    write(checkout, {".gitattributes": "src export-ignore\n"})
    worktree = pool.take(save(checkout))
    assert contents(worktree.path)["src/c.txt"] == "c\n"


def test_a_sparse_checkout_of_the_person_does_not_make_worktrees_sparse(checkout: Path, tmp_path: Path) -> None:
    write(checkout, {"docs/d.txt": "d\n"})
    save(checkout)
    sh(checkout, "sparse-checkout", "set", "docs")
    assert not (checkout / "src").exists()
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = again(pool, pool.take(head(checkout)))
        assert contents(worktree.path)["src/c.txt"] == "c\n"


def test_closing_leaves_everything_as_it_was(checkout: Path, repository: Repository) -> None:
    write(checkout, {"untracked": "x", "a.txt": "dirty"})
    before = facts(checkout)
    with Pool(repository) as pool:
        worktrees = [pool.take(head(checkout)) for _ in range(3)]
        sh(worktrees[0].path, "checkout", "-q", "--detach", head(checkout))
        pool.give_back(worktrees[0])
        (worktrees[1].path / "sealed").mkdir()
        write(worktrees[1].path, {"sealed/file": "x"})
        (worktrees[1].path / "sealed").chmod(0o500)
        assert pool.folder.is_relative_to(default_folder(repository).parent)
    assert facts(checkout) == before
    assert not (checkout / ".git" / "worktrees").exists()
    assert not default_folder(repository).parent.parent.exists()


def test_worktrees_of_the_person_are_not_touched(checkout: Path, repository: Repository, tmp_path: Path) -> None:
    mine, gone = tmp_path / "mine", tmp_path / "gone"
    sh(checkout, "worktree", "add", "-q", "-b", "mine", str(mine))
    sh(checkout, "worktree", "add", "-q", "-b", "gone", str(gone))
    shutil.rmtree(gone)  # on a disk that is not mounted, say
    write(mine, {"untracked": "x", "a.txt": "dirty"})
    before = (facts(checkout), sh(mine, "status", "--porcelain"))
    with Pool(repository, tmp_path / "pool") as pool:
        again(pool, pool.take(head(checkout)))
    assert (facts(checkout), sh(mine, "status", "--porcelain")) == before


def test_a_folder_in_the_checkout_is_refused(checkout: Path, repository: Repository) -> None:
    with pytest.raises(Unavailable, match="cannot be in the checkout"):
        Pool(repository, checkout / "worktrees")


def test_two_pools_do_not_disturb_each_other(checkout: Path, repository: Repository, tmp_path: Path) -> None:
    one, other = Pool(repository, tmp_path / "pool"), Pool(repository, tmp_path / "pool")
    mine, theirs = one.take(head(checkout)), other.take(head(checkout))
    one.give_back(mine)
    assert other.take(head(checkout)).path not in {mine.path, theirs.path}
    write(theirs.path, {"work": "in progress"})
    one.close()
    assert not mine.path.exists()
    assert (theirs.path / "work").read_text() == "in progress"
    other.close()
    assert not (tmp_path / "pool").exists()
    assert sh(checkout, "worktree", "list").count("\n") == 0


CRASH = """
import os, sys
from pathlib import Path
from aotloop.git.worktrees.pool import Pool
from aotloop.git.repository import find_repository
repository = find_repository(Path(sys.argv[1]))
pool = Pool(repository, Path(sys.argv[2]))
worktrees = [pool.take(repository.head().commit) for _ in range(2)]
(worktrees[0].path / "left").write_text("x")
print(worktrees[0].path, flush=True)
os.kill(os.getpid(), 9)
"""


def crash(checkout: Path, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CRASH, checkout, folder], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_worktrees_of_a_crashed_process_are_used_again(checkout: Path, repository: Repository, tmp_path: Path) -> None:
    crash(checkout, tmp_path / "pool")
    left = {path for path in (tmp_path / "pool").iterdir() if path.is_dir()}
    assert len(left) == 2
    with Pool(repository, tmp_path / "pool") as pool:
        worktrees = {pool.take(head(checkout)).path for _ in range(3)}
        assert left < worktrees
        assert all(set(contents(path)) == {"a.txt", "b.txt", "src/c.txt"} for path in worktrees)
    assert not (tmp_path / "pool").exists()


def test_worktrees_of_a_crashed_process_are_removed(checkout: Path, repository: Repository, tmp_path: Path) -> None:
    before = facts(checkout)
    crash(checkout, tmp_path / "pool")
    Pool(repository, tmp_path / "pool").close()
    assert facts(checkout) == before
    assert not (tmp_path / "pool").exists()


def test_a_worktree_whose_agent_outlives_its_run_is_not_taken_over(
    checkout: Path, repository: Repository, tmp_path: Path
) -> None:
    crashed = Pool(repository, tmp_path / "pool")
    worktree = crashed.take(head(checkout))
    lock = worktree.lock
    assert lock is not None
    agent = subprocess.Popen(["sleep", "60"], pass_fds=[lock])
    os.close(lock)  # as the death of the run does
    with Pool(repository, tmp_path / "pool") as pool:
        assert pool.take(head(checkout)).path != worktree.path
        agent.kill()
        agent.wait()
        assert pool.take(head(checkout)).path == worktree.path


def test_registrations_of_worktrees_deleted_by_hand_are_removed(
    checkout: Path, repository: Repository, tmp_path: Path
) -> None:
    before = facts(checkout)
    crash(checkout, tmp_path / "pool")
    shutil.rmtree(tmp_path / "pool")
    write(checkout / ".git" / "aot-removed-aot-x", {"HEAD": "of a process that died while it removed this"})
    Pool(repository, tmp_path / "pool").close()
    assert facts(checkout) == before


def test_threads_get_different_worktrees(checkout: Path, pool: Pool) -> None:
    commit = head(checkout)
    barrier = threading.Barrier(4)

    def work(number: int) -> set[Path]:
        used = set()
        barrier.wait()
        for turn in range(3):
            worktree = pool.take(commit)
            assert not (worktree.path / "mine").exists()
            write(worktree.path, {"mine": f"{number} {turn}"})
            assert (worktree.path / "mine").read_text() == f"{number} {turn}"
            used.add(worktree.path)
            pool.give_back(worktree)
        return used

    with ThreadPoolExecutor(4) as threads:
        used = set().union(*threads.map(work, range(4)))
    assert len(used) <= 4


def test_a_worktree_whose_furnishing_fails_is_thrown_away(
    checkout: Path, repository: Repository, tmp_path: Path
) -> None:
    def fail(worktree: Worktree) -> None:
        raise Unavailable(f"no {worktree.path.name}")

    with Pool(repository, tmp_path / "pool", fail) as pool:
        with pytest.raises(Unavailable, match="no aot-"):
            pool.take(head(checkout))
        assert pool.worktrees() == []
    assert sh(checkout, "worktree", "list").count("\n") == 0


def test_a_commit_that_does_not_exist_leaves_nothing_behind(checkout: Path, pool: Pool) -> None:
    with pytest.raises(Unavailable):
        pool.take("0" * 40)
    assert pool.worktrees() == []
    assert sh(checkout, "worktree", "list").count("\n") == 0
