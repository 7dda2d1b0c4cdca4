"""Set-up runs once for a worktree, again when what it depends on has changed, and is never taken for work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.git.commits.attempt_commit import changed_paths
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.setup import Setup, furnisher
from aotloop.git.worktrees.worktree import Worktree
from aotloop.process.cancellation import Cancellation
from tests.checks.proofs import has_ended
from tests.git.checkouts import facts, head, opened, save, sh, write
from tests.patience import FOREVER, until, with_time_enough


@contextmanager
def pool_with(checkout: Path, setup: Setup) -> Iterator[Pool]:
    with Pool(opened(checkout), checkout.parent / "pool", furnisher(setup)) as pool:
        yield pool


def again(pool: Pool, worktree: Worktree, commit: str | None = None) -> Worktree:
    pool.give_back(worktree)
    after = pool.take(commit or worktree.base)
    assert after.path == worktree.path
    return after


def test_nothing_to_set_up_is_nothing() -> None:
    assert furnisher(Setup()) is None


def test_the_command_runs_once_for_a_worktree(checkout: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pool_with(checkout, Setup(command=f"pwd >> {log}")) as pool:
        first, second = pool.take(head(checkout)), pool.take(head(checkout))
        again(pool, first)
        assert log.read_text().splitlines() == [str(first.path), str(second.path)]


def test_the_command_runs_in_the_projects_folder(checkout: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Pool(opened(checkout / "src"), tmp_path / "pool", furnisher(Setup(command=f"pwd > {log}"))) as pool:
        worktree = pool.take(head(checkout))
        assert log.read_text() == f"{worktree.cwd}\n"


def test_the_command_runs_again_when_its_inputs_change(checkout: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(checkout, {"uv.lock": "1", "requirements-dev.txt": "x"})
    start = save(checkout)
    with pool_with(checkout, Setup(command=f"echo ran >> {log}")) as pool:
        worktree = pool.take(start)
        write(checkout, {"a.txt": "unrelated"})
        worktree = again(pool, worktree, save(checkout))
        assert log.read_text() == "ran\n"
        write(checkout, {"requirements-dev.txt": "y"})
        worktree = again(pool, worktree, save(checkout))
        assert log.read_text() == "ran\nran\n"
        again(pool, worktree, start)
        assert log.read_text() == "ran\nran\nran\n"


def test_what_the_command_makes_stays_and_is_no_work(checkout: Path) -> None:
    write(checkout, {".gitignore": "ignored/\n", "package-lock.json": "locked\n"})
    commit = save(checkout)
    command = (
        "mkdir -p ignored 'not ignored' && touch ignored/x 'not ignored/[y]' && echo rewritten > package-lock.json"
    )
    with pool_with(checkout, Setup(command=command)) as pool:
        worktree = pool.take(commit)
        assert (worktree.path / "package-lock.json").read_text() == "locked\n"
        assert changed_paths(worktree) == ()
        write(worktree.path, {"work": "x", "not ignored/z": "x"})
        assert changed_paths(worktree) == ("work",)
        worktree = again(pool, worktree)
        assert (worktree.path / "ignored" / "x").exists()
        assert (worktree.path / "not ignored" / "[y]").exists()
        assert not (worktree.path / "work").exists()


def test_a_failing_command_is_told_with_its_output_and_leaves_no_worktree(checkout: Path) -> None:
    before = facts(checkout)
    with pool_with(checkout, Setup(command="echo no network >&2; exit 3")) as pool:
        with pytest.raises(Unavailable, match=r"set-up failed with exit 3: .*\nno network") as caught:
            pool.take(head(checkout))
        assert caught.value.hint is not None
        assert pool.worktrees() == []
    assert facts(checkout) == before


def test_a_command_that_fails_the_second_time_leaves_no_worktree(checkout: Path, tmp_path: Path) -> None:
    write(checkout, {"uv.lock": "1"})
    start = save(checkout)
    with pool_with(checkout, Setup(command=f"test ! -e {tmp_path}/fail")) as pool:
        pool.give_back(pool.take(start))
        (tmp_path / "fail").touch()
        write(checkout, {"uv.lock": "2"})
        with pytest.raises(Unavailable):
            pool.take(save(checkout))
        assert pool.worktrees() == []


def test_a_command_that_hangs_is_ended_with_all_it_started(checkout: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = f"sleep {FOREVER} & echo $! > {pid}; echo started; sleep {FOREVER}"

    def hung(limit: float) -> None:
        setup = Setup(command=command, timeout=limit)
        with pool_with(checkout, setup) as pool, pytest.raises(Unavailable, match="did not end in time"):
            pool.take(head(checkout))

    with_time_enough(hung, lambda _: pid.exists() and pid.read_text())
    assert has_ended(int(pid.read_text()))


def test_a_command_can_be_cancelled(checkout: Path, tmp_path: Path) -> None:
    begun, cancellation = tmp_path / "begun", Cancellation()

    def cancel() -> None:
        until(begun.exists)
        cancellation.cancel()

    cancelling = threading.Thread(target=cancel)
    cancelling.start()
    with (
        pool_with(checkout, Setup(command=f"touch {begun}; sleep {FOREVER}")) as pool,
        cancellation.governing(),
        pytest.raises(Unavailable, match="was cancelled"),
    ):
        pool.take(head(checkout))
    cancelling.join()


def test_the_command_hears_no_git_variables(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    with pool_with(checkout, Setup(command=f"git rev-parse --show-toplevel > {tmp_path}/top")) as pool:
        worktree = pool.take(opened(checkout).head().commit)
        assert (tmp_path / "top").read_text().strip() == str(worktree.path)


def test_files_that_git_does_not_know_are_copied_and_linked(checkout: Path) -> None:
    write(checkout, {".gitignore": ".env*\n"})
    commit = save(checkout)
    write(checkout, {".env": "SECRET=1", ".env.local": "x", "data/big file": "d", "untracked": "u"})
    setup = Setup(copy=(".env*", "untracked", "a.txt", "src"), link=("data",))
    with pool_with(checkout, setup) as pool:
        write(checkout, {"a.txt": "edited by the person\n"})
        worktree = pool.take(commit)
        assert (worktree.path / ".env").read_text() == "SECRET=1"
        assert (worktree.path / "untracked").read_text() == "u"
        assert (worktree.path / "data").readlink() == checkout / "data"
        assert (worktree.path / "a.txt").read_text() == "a\n"
        assert changed_paths(worktree) == ()
        write(worktree.path, {".env": "SECRET=agent"})
        write(checkout, {".env.local": "changed"})
        worktree = again(pool, worktree)
        assert (worktree.path / ".env").read_text() == "SECRET=1"
        assert (worktree.path / ".env.local").read_text() == "changed"
        assert (worktree.path / "data" / "big file").read_text() == "d"
    assert (checkout / "data" / "big file").read_text() == "d"


def test_all_that_git_does_not_know_below_a_folder_is_copied_or_linked(checkout: Path) -> None:
    write(checkout, {"data/known/a": "known"})
    commit = save(checkout)
    write(checkout, {"data/known/b": "b", "data/new/deep/c": "c", "data/.hidden": "h"})
    for setup in (Setup(copy=("data/**",)), Setup(link=("data/**",))):
        with pool_with(checkout, setup) as pool:
            worktree = again(pool, pool.take(commit))
            assert (worktree.path / "data" / "known" / "b").read_text() == "b"
            assert (worktree.path / "data" / "new" / "deep" / "c").read_text() == "c"
            assert (worktree.path / "data" / "new").is_symlink() == bool(setup.link)
            assert not (worktree.path / "data" / ".hidden").exists()
            assert changed_paths(worktree) == ()


def test_folders_are_copied_with_their_links_as_links(checkout: Path) -> None:
    write(checkout, {"node_modules/lib/index.js": "x"})
    (checkout / "node_modules" / "bin").symlink_to("lib/index.js")
    with pool_with(checkout, Setup(copy=("node_modules",))) as pool:
        worktree = pool.take(head(checkout))
        assert (worktree.path / "node_modules" / "bin").readlink() == Path("lib/index.js")
        assert changed_paths(worktree) == ()


def test_a_commit_that_has_the_file_wins(checkout: Path) -> None:
    write(checkout, {"late.txt": "the person's, untracked"})
    start = head(checkout)
    sh(checkout, "checkout", "-q", "-b", "side")
    tracked = save(checkout)
    sh(checkout, "checkout", "-q", "main")
    write(checkout, {"late.txt": "the person's, untracked, again"})
    with pool_with(checkout, Setup(copy=("late.txt",))) as pool:
        worktree = pool.take(start)
        assert (worktree.path / "late.txt").read_text().endswith("again")
        worktree = again(pool, worktree, tracked)
        assert (worktree.path / "late.txt").read_text() == "the person's, untracked"


@pytest.mark.parametrize("pattern", ["../outside", "/etc/passwd", "a/../../b", "", "/"])
def test_patterns_that_lead_out_of_the_project_are_refused(checkout: Path, pattern: str) -> None:
    with pool_with(checkout, Setup(copy=(pattern,))) as pool, pytest.raises(Unavailable, match="not a path within"):
        pool.take(head(checkout))


def test_a_link_on_the_way_does_not_lead_out_of_the_worktree(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (checkout / "way").symlink_to(tmp_path / "outside")
    commit = save(checkout)
    (checkout / "way").unlink()
    write(checkout, {"way/file": "x"})
    with pool_with(checkout, Setup(copy=("way/file",))) as pool, pytest.raises(Unavailable, match="outside of"):
        pool.take(commit)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("path", ["way/key", "way/deep/key"])
def test_a_folder_that_was_exchanged_for_a_link_gives_nothing_to_a_worktree(
    checkout: Path, tmp_path: Path, path: str
) -> None:
    write(tmp_path, {f"outside/{path.removeprefix('way/')}": "secret"})
    (checkout / "way").symlink_to(tmp_path / "outside")
    with pool_with(checkout, Setup(copy=("way/**",))) as pool, pytest.raises(Unavailable, match="cannot be given"):
        pool.take(head(checkout))


def test_what_the_user_ignores_everywhere_stays_ignored(checkout: Path, own_home: Path) -> None:
    write(own_home, {".config/git/ignore": "*.swp\n"})
    write(checkout, {"untracked": "u"})
    with pool_with(checkout, Setup(copy=("untracked",))) as pool:
        worktree = pool.take(head(checkout))
        write(worktree.path, {"x.swp": "x"})
        assert changed_paths(worktree) == ()
