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
from aotloop.git.worktrees.worktree import Desk
from tests.git.checkouts import facts, head, make_checkout, nested, opened, save, sh, write


def contents(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] != ".git")
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def again(pool: Pool, desk: Desk, commit: str | None = None) -> Desk:
    pool.give_back(desk)
    return pool.take(commit or desk.base)


def test_a_desk_is_the_commit_and_nothing_else(pool: Pool, checkout: Path) -> None:
    write(checkout, {"untracked": "x", "a.txt": "the person is editing\n"})
    desk = pool.take(head(checkout))
    assert contents(desk.path) == {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}
    assert desk.cwd == desk.path
    assert sh(desk.path, "rev-parse", "HEAD") == desk.base == head(checkout)
    assert sh(desk.path, "status", "--porcelain") == ""
    assert sh(desk.path, "branch", "--show-current") == ""


def test_a_project_in_a_sub_directory_is_worked_on_there(checkout: Path, tmp_path: Path) -> None:
    with Pool(opened(checkout / "src"), tmp_path / "pool") as pool:
        desk = pool.take(head(checkout))
        assert desk.cwd == desk.path / "src"
        assert (desk.cwd / "c.txt").read_text() == "c\n"


def test_a_sub_directory_that_no_commit_has_is_made(checkout: Path, tmp_path: Path) -> None:
    (checkout / "fresh").mkdir()
    with Pool(opened(checkout / "fresh"), tmp_path / "pool") as pool:
        assert pool.take(head(checkout)).cwd.is_dir()
        desk = pool.take(head(checkout))
        assert again(pool, desk).cwd.is_dir()


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
    desk = pool.take(save(checkout))
    write(desk.path, {"a.txt": "x", "new/deep/file": "x", "node_modules/lib.js": "installed", "src/new": "x"})
    (desk.path / "b.txt").unlink()
    (desk.path / "empty" / "folder").mkdir(parents=True)
    (desk.path / "src" / "c.txt").chmod(0o755)
    (desk.path / "link").symlink_to("/etc")
    after = again(pool, desk)
    assert after.path == desk.path
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
    desk = pool.take(head(checkout))
    write(desk.path, {".gitignore": "hidden\n", "hidden": "x"})
    assert not (again(pool, desk).path / "hidden").exists()


@pytest.mark.parametrize("folder", ["", "src/"])
def test_an_ignore_file_that_hides_itself_and_others_does_not_stay(pool: Pool, checkout: Path, folder: str) -> None:
    desk = pool.take(head(checkout))
    write(desk.path, {f"{folder}.gitignore": "*\n", f"{folder}hidden": "x", f"{folder}deep/er": "x"})
    after = again(pool, desk)
    assert contents(after.path) == {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}


def test_changes_that_an_agent_hides_from_git_do_not_stay(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    write(desk.path, {"a.txt": "hidden\n", "b.txt": "hidden\n"})
    sh(desk.path, "update-index", "--assume-unchanged", "a.txt")
    sh(desk.path, "update-index", "--skip-worktree", "b.txt")
    after = again(pool, desk)
    assert contents(after.path) == {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}
    assert sh(after.path, "ls-files", "-v") == "H a.txt\nH b.txt\nH src/c.txt"


def two_that_conflict(desk: Desk) -> str:
    """Two commits on the same base; the second is checked out, the first is returned."""
    write(desk.path, {"a.txt": "one\n"})
    one = save(desk.path)
    sh(desk.path, "checkout", "-q", "--detach", desk.base)
    write(desk.path, {"a.txt": "two\n"})
    save(desk.path)
    return one


def test_an_unfinished_merge_is_forgotten(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    one = two_that_conflict(desk)
    sh(desk.path, "merge", one, check=False)
    assert (desk.path / ".git" / "MERGE_HEAD").exists()
    after = again(pool, desk)
    assert after.path == desk.path
    assert "clean" in sh(after.path, "status")
    assert "merg" not in sh(after.path, "status")


def test_a_running_rebase_is_forgotten(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    one = two_that_conflict(desk)
    sh(desk.path, "rebase", one, check=False)
    assert (desk.path / ".git" / "rebase-merge").exists()
    after = again(pool, desk)
    assert after.path == desk.path
    assert "rebase" not in sh(after.path, "status")
    assert contents(after.path)["a.txt"] == "a\n"


def test_locks_that_a_killed_agent_left_are_gone(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    (desk.path / ".git" / "index.lock").touch()
    (desk.path / ".git" / "HEAD.lock").touch()
    after = again(pool, desk)
    assert after.path == desk.path
    sh(after.path, "add", "-A")


def test_a_deleted_git_file_is_put_back(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    shutil.rmtree(desk.path / ".git")
    after = again(pool, desk)
    assert sh(after.path, "status", "--porcelain") == ""


def test_a_repository_in_place_of_the_git_file_is_removed(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    shutil.rmtree(desk.path / ".git")
    sh(desk.path, "init", "-q")
    write(desk.path, {"a.txt": "mine now"})
    after = again(pool, desk)
    assert sh(after.path, "rev-parse", "HEAD") == head(checkout)


def test_nested_repositories_are_removed(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    make_checkout(desk.path / "src" / "nested")
    sh(desk.path, "init", "-q", "bare-nested")
    after = again(pool, desk)
    assert contents(after.path) == {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}


@pytest.mark.parametrize("damage", ["files", "registration", "depth"])
def test_a_damaged_worktree_is_replaced(pool: Pool, checkout: Path, damage: str) -> None:
    desk = pool.take(head(checkout))
    if damage == "files":
        shutil.rmtree(desk.path)
    elif damage == "registration":
        shutil.rmtree(desk.own)
    else:
        nested(desk.path, 2_500)
    after = again(pool, desk)
    assert after.path != desk.path
    assert not desk.path.exists()
    assert not desk.own.exists()
    assert contents(after.path)["a.txt"] == "a\n"


def test_what_an_agent_does_with_git_reaches_nobody(pool: Pool, checkout: Path) -> None:
    sh(checkout, "branch", "persons-own")
    before = facts(checkout)["refs"]
    desk = pool.take(head(checkout))
    sh(desk.path, "checkout", "-q", "persons-own")
    write(desk.path, {"a.txt": "x"})
    save(desk.path)
    sh(desk.path, "checkout", "-q", "-b", "feature")
    sh(desk.path, "worktree", "add", "-q", "-b", "helper", "helper")
    sh(desk.path, "config", "core.hooksPath", "/tmp")
    sh(desk.path, "gc", "-q", "--prune=now")
    pool.give_back(desk)
    assert facts(checkout)["refs"] == before
    assert sh(checkout, "config", "--default", "", "core.hooksPath") == ""
    again = pool.take(head(checkout))
    assert (again.path, sh(again.path, "branch", "--show-current")) == (desk.path, "")
    assert sh(again.path, "log", "-1", "--format=%H", "persons-own") == head(checkout)


def test_hooks_of_the_person_do_not_run(pool: Pool, checkout: Path, tmp_path: Path) -> None:
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        hook = checkout / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\nexit 1\n")
        hook.chmod(0o755)
    again(pool, pool.take(head(checkout)))
    assert list(tmp_path.glob("ran-*")) == []


def test_an_empty_repository_has_desks_too(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "empty", {})
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        desk = pool.take(None)
        assert contents(desk.path) == {}
        pool.give_back(desk)
        assert pool.take(None) == desk
    assert sh(checkout, "for-each-ref") == ""
    assert sh(checkout, "worktree", "list").count("\n") == 0


def test_line_endings_that_are_converted_are_no_changes(checkout: Path, tmp_path: Path) -> None:
    sh(checkout, "config", "core.autocrlf", "true")
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        desk = pool.take(head(checkout))
        assert (desk.path / "a.txt").read_bytes() == b"a\r\n"
        assert again(pool, desk).path == desk.path


def test_files_that_exports_leave_out_are_there(pool: Pool, checkout: Path) -> None:
    write(checkout, {".gitattributes": "src export-ignore\n"})
    desk = pool.take(save(checkout))
    assert contents(desk.path)["src/c.txt"] == "c\n"


def test_a_sparse_checkout_of_the_person_does_not_make_desks_sparse(checkout: Path, tmp_path: Path) -> None:
    write(checkout, {"docs/d.txt": "d\n"})
    save(checkout)
    sh(checkout, "sparse-checkout", "set", "docs")
    assert not (checkout / "src").exists()
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        desk = again(pool, pool.take(head(checkout)))
        assert contents(desk.path)["src/c.txt"] == "c\n"


def test_closing_leaves_everything_as_it_was(checkout: Path, repository: Repository) -> None:
    write(checkout, {"untracked": "x", "a.txt": "dirty"})
    before = facts(checkout)
    with Pool(repository) as pool:
        desks = [pool.take(head(checkout)) for _ in range(3)]
        sh(desks[0].path, "checkout", "-q", "--detach", head(checkout))
        pool.give_back(desks[0])
        (desks[1].path / "sealed").mkdir()
        write(desks[1].path, {"sealed/file": "x"})
        (desks[1].path / "sealed").chmod(0o500)
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
desks = [pool.take(repository.head().commit) for _ in range(2)]
(desks[0].path / "left").write_text("x")
print(desks[0].path, flush=True)
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
        desks = {pool.take(head(checkout)).path for _ in range(3)}
        assert left < desks
        assert all(set(contents(path)) == {"a.txt", "b.txt", "src/c.txt"} for path in desks)
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
    desk = crashed.take(head(checkout))
    lock = desk.lock
    assert lock is not None
    agent = subprocess.Popen(["sleep", "60"], pass_fds=[lock])
    os.close(lock)  # as the death of the run does
    with Pool(repository, tmp_path / "pool") as pool:
        assert pool.take(head(checkout)).path != desk.path
        agent.kill()
        agent.wait()
        assert pool.take(head(checkout)).path == desk.path


def test_registrations_of_worktrees_deleted_by_hand_are_removed(
    checkout: Path, repository: Repository, tmp_path: Path
) -> None:
    before = facts(checkout)
    crash(checkout, tmp_path / "pool")
    shutil.rmtree(tmp_path / "pool")
    write(checkout / ".git" / "aot-removed-aot-x", {"HEAD": "of a process that died while it removed this"})
    Pool(repository, tmp_path / "pool").close()
    assert facts(checkout) == before


def test_threads_get_different_desks(checkout: Path, pool: Pool) -> None:
    commit = head(checkout)
    barrier = threading.Barrier(4)

    def work(number: int) -> set[Path]:
        used = set()
        barrier.wait()
        for turn in range(3):
            desk = pool.take(commit)
            assert not (desk.path / "mine").exists()
            write(desk.path, {"mine": f"{number} {turn}"})
            assert (desk.path / "mine").read_text() == f"{number} {turn}"
            used.add(desk.path)
            pool.give_back(desk)
        return used

    with ThreadPoolExecutor(4) as threads:
        used = set().union(*threads.map(work, range(4)))
    assert len(used) <= 4


def test_a_desk_whose_furnishing_fails_is_thrown_away(checkout: Path, repository: Repository, tmp_path: Path) -> None:
    def fail(desk: Desk) -> None:
        raise Unavailable(f"no {desk.path.name}")

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
