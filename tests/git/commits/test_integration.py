"""From an attempt's commit to the branch: merged in no work tree, landed all at once or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.git.checkout.fast_forward import Blocked, Landed, Moved
from aotloop.git.commits.attempt_commit import commit
from aotloop.git.commits.integration import Conflict, Prepared, land, prepare
from aotloop.git.repository import Repository
from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import (
    MAIN,
    done_by,
    facts,
    head,
    landed_from,
    make_checkout,
    opened,
    prepared_from,
    save,
    sh,
    write,
)


def parents(checkout: Path, commit: str) -> str:
    return sh(checkout, "log", "-1", "--format=%P", commit)


# --- preparing ---------------------------------------------------------------------------------------------------


def test_where_head_has_not_moved_the_attempt_is_what_lands(pool: Pool, repository: Repository, checkout: Path) -> None:
    done = done_by(pool.take(head(checkout)), {"a.txt": "x\n"})
    assert prepare(repository, done) == Prepared(head(checkout), str(done.sha), is_fast_forward=True)
    assert prepare(repository, str(done.sha)) == prepare(repository, done)


def test_another_message_makes_another_commit(pool: Pool, repository: Repository, checkout: Path) -> None:
    done = done_by(pool.take(head(checkout)), {"a.txt": "x\n"})
    prepared = prepare(repository, done, "Better words", {"Aot-Atom": "A7"})
    assert isinstance(prepared, Prepared)
    assert prepared.is_fast_forward
    assert sh(checkout, "log", "-1", "--format=%B", prepared.commit).strip() == "Better words\n\nAot-Atom: A7"


def test_where_head_has_moved_it_is_merged_onto_it(pool: Pool, repository: Repository, checkout: Path) -> None:
    done = done_by(pool.take(head(checkout)), {"a.txt": "theirs\n"})
    write(checkout, {"b.txt": "meanwhile\n"})
    moved = save(checkout)
    prepared = prepare(repository, done)
    assert isinstance(prepared, Prepared)
    assert (prepared.head, prepared.is_fast_forward) == (moved, False)
    assert parents(checkout, prepared.commit) == moved
    assert sh(checkout, "show", f"{prepared.commit}:a.txt") == "theirs"
    assert sh(checkout, "show", f"{prepared.commit}:b.txt") == "meanwhile"
    assert "Aot-Atom: A1" in sh(checkout, "log", "-1", "--format=%B", prepared.commit)
    assert sh(checkout, "status", "--porcelain") == ""


def test_the_merged_result_can_be_checked_before_it_lands(pool: Pool, repository: Repository, checkout: Path) -> None:
    done = done_by(pool.take(head(checkout)), {"a.txt": "theirs\n"})
    write(checkout, {"b.txt": "meanwhile\n"})
    save(checkout)
    prepared = prepare(repository, done)
    assert isinstance(prepared, Prepared)
    worktree = pool.take(prepared.commit)
    assert ((worktree.path / "a.txt").read_text(), (worktree.path / "b.txt").read_text()) == ("theirs\n", "meanwhile\n")
    assert (checkout / "a.txt").read_text() == "a\n"


def test_a_conflict_names_the_paths_and_who_changed_them(pool: Pool, repository: Repository, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    landed_from(pool, repository, {"b.txt": "unrelated\n"}, "A2")
    culprit = landed_from(pool, repository, {"a.txt": "first\n"}, "A3")
    conflict = prepare(repository, done_by(worktree, {"a.txt": "second\n", "ü new": "x"}))
    assert isinstance(conflict, Conflict)
    assert conflict.paths == ("a.txt",)
    assert [(one.sha, one.atom) for one in conflict.commits] == [(culprit, "A3")]


def test_deleting_what_was_edited_is_a_conflict(pool: Pool, repository: Repository, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    landed_from(pool, repository, {"a.txt": "edited\n"})
    (worktree.path / "a.txt").unlink()
    conflict = prepare(repository, commit(worktree, "x", {}))
    assert isinstance(conflict, Conflict)
    assert conflict.paths == ("a.txt",)


def test_work_from_a_commit_that_was_reset_away_brings_nothing_of_it_back(
    pool: Pool, repository: Repository, checkout: Path
) -> None:
    first = head(checkout)
    write(checkout, {"unwanted": "x\n"})
    done = done_by(pool.take(save(checkout)), {"a.txt": "work\n"})
    sh(checkout, "reset", "-q", "--hard", first)
    prepared = prepare(repository, done)
    assert isinstance(prepared, Prepared)
    assert sh(checkout, "ls-tree", "-r", "--name-only", prepared.commit) == "a.txt\nb.txt\nsrc/c.txt"


def test_what_is_there_already_still_leaves_a_commit_that_names_it(
    pool: Pool, repository: Repository, checkout: Path
) -> None:
    done = done_by(pool.take(head(checkout)), {"a.txt": "same\n"})
    write(checkout, {"a.txt": "same\n"})
    save(checkout)
    prepared = prepare(repository, done)
    assert isinstance(prepared, Prepared)
    assert land(repository, prepared, MAIN) == Landed(prepared.commit)
    assert "Aot-Atom: A1" in sh(checkout, "log", "-1", "--format=%B")


# --- landing -----------------------------------------------------------------------------------------------------


def test_landing_moves_branch_index_and_files(pool: Pool, repository: Repository, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    (worktree.path / "b.txt").unlink()
    (worktree.path / "run.sh").write_text("#!/bin/sh\n")
    (worktree.path / "run.sh").chmod(0o755)
    (worktree.path / "link").symlink_to("a.txt")
    prepared = prepare(repository, done_by(worktree, {"a.txt": "x\n", "ü/new\nline": "y\n"}))
    assert isinstance(prepared, Prepared)
    assert land(repository, prepared, MAIN) == Landed(prepared.commit)
    assert head(checkout) == sh(checkout, "rev-parse", "main") == prepared.commit
    assert sh(checkout, "status", "--porcelain") == ""
    assert not (checkout / "b.txt").exists()
    assert (checkout / "ü" / "new\nline").read_text() == "y\n"
    assert (checkout / "run.sh").stat().st_mode & stat.S_IXUSR
    assert (checkout / "link").readlink() == Path("a.txt")


def test_landing_the_same_again_is_no_news(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"a.txt": "x\n"})
    assert land(repository, prepared, MAIN) == land(repository, prepared, MAIN) == Landed(head(checkout))


def test_a_moved_head_is_reported_and_nothing_is_changed(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"a.txt": "x\n"})
    write(checkout, {"b.txt": "meanwhile\n"})
    moved = save(checkout)
    assert land(repository, prepared, MAIN) == Moved(moved)
    assert (head(checkout), (checkout / "a.txt").read_text()) == (moved, "a\n")


def test_another_branch_blocks(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"a.txt": "x\n"})
    sh(checkout, "checkout", "-q", "-b", "other")
    outcome = land(repository, prepared, MAIN)
    assert outcome == Blocked("branch main was checked out, now it is branch other")
    sh(checkout, "checkout", "-q", "--detach")
    assert land(repository, prepared, MAIN) == Blocked("branch main was checked out, now it is no branch")
    assert sh(checkout, "rev-parse", "main", "other") == f"{prepared.head}\n{prepared.head}"


def test_a_detached_head_moves_and_no_branch_does(pool: Pool, repository: Repository, checkout: Path) -> None:
    sh(checkout, "checkout", "-q", "--detach")
    prepared = prepared_from(pool, repository, {"a.txt": "x\n"})
    assert land(repository, prepared, None) == Landed(prepared.commit)
    assert head(checkout) == prepared.commit
    assert sh(checkout, "rev-parse", "main") == prepared.head
    assert sh(checkout, "status", "--porcelain") == ""


def test_a_linked_worktree_of_the_person_can_be_the_checkout(checkout: Path, tmp_path: Path) -> None:
    sh(checkout, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repository = opened(tmp_path / "side")
    with Pool(repository, tmp_path / "pool") as pool:
        commit = landed_from(pool, repository, {"a.txt": "x\n"})
    assert sh(checkout, "rev-parse", "side") == commit
    assert sh(tmp_path / "side", "status", "--porcelain") == ""
    assert sh(checkout, "status", "--porcelain") == ""


def test_a_project_in_a_sub_directory_lands_in_the_whole_checkout(checkout: Path, tmp_path: Path) -> None:
    repository = opened(checkout / "src")
    with Pool(repository, tmp_path / "pool") as pool:
        worktree = pool.take(head(checkout))
        write(worktree.cwd, {"c.txt": "sub\n"})
        prepared = prepare(repository, done_by(worktree, {"a.txt": "top\n"}))
        assert isinstance(prepared, Prepared)
        assert isinstance(land(repository, prepared, MAIN), Landed)
    assert ((checkout / "a.txt").read_text(), (checkout / "src" / "c.txt").read_text()) == ("top\n", "sub\n")


# --- the person's own files --------------------------------------------------------------------------------------


def test_unrelated_edits_of_the_person_survive(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"a.txt": "x\n"})
    write(checkout, {"b.txt": "editing\n", "notes": "untracked\n", "staged": "s\n"})
    sh(checkout, "add", "staged")
    before = sh(checkout, "status", "--porcelain")
    assert isinstance(land(repository, prepared, MAIN), Landed)
    assert sh(checkout, "status", "--porcelain") == before
    assert ((checkout / "b.txt").read_text(), (checkout / "notes").read_text()) == ("editing\n", "untracked\n")


def test_an_edit_in_the_way_blocks_and_is_not_touched(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"a.txt": "x\n", "b.txt": "x\n", "new": "x\n"})
    write(checkout, {"a.txt": "the person's\n"})
    before = facts(checkout)
    outcome = land(repository, prepared, MAIN)
    assert outcome == Blocked("uncommitted changes stand in the way: a.txt", ("a.txt",))
    assert (checkout / "a.txt").read_bytes() == b"the person's\n"
    assert (checkout / "b.txt").read_bytes() == b"b\n"
    after = facts(checkout)
    assert {**after, "private": ""} == {**before, "private": ""}
    sh(checkout, "checkout", "-q", "a.txt")
    assert isinstance(land(repository, prepared, MAIN), Landed)


@pytest.mark.parametrize("is_ignored", [False, True])
def test_an_untracked_file_in_the_way_blocks(
    pool: Pool, repository: Repository, checkout: Path, is_ignored: bool
) -> None:
    prepared = prepared_from(pool, repository, {"new/file": "x\n"})
    write(checkout, {"new/file": "the person's\n"})
    if is_ignored:
        (checkout / ".git" / "info" / "exclude").write_text("file\n")
    assert land(repository, prepared, MAIN) == Blocked("uncommitted changes stand in the way: new/file", ("new/file",))
    assert (checkout / "new" / "file").read_bytes() == b"the person's\n"
    assert head(checkout) == prepared.head


@pytest.mark.parametrize("is_ignored", [False, True])
def test_files_in_a_folder_that_becomes_a_file_block(
    pool: Pool, repository: Repository, checkout: Path, is_ignored: bool
) -> None:
    worktree = pool.take(head(checkout))
    (worktree.path / "src" / "c.txt").unlink()
    (worktree.path / "src").rmdir()
    prepared = prepare(repository, done_by(worktree, {"src": "a file now\n"}))
    assert isinstance(prepared, Prepared)
    write(checkout, {"src/mine": "the person's\n"})
    if is_ignored:
        (checkout / ".git" / "info" / "exclude").write_text("mine\n")
    outcome = land(repository, prepared, MAIN)
    assert isinstance(outcome, Blocked)
    assert outcome.paths == ("src/mine",)
    assert (checkout / "src" / "mine").read_bytes() == b"the person's\n"
    assert (checkout / "src" / "c.txt").read_bytes() == b"c\n"
    (checkout / "src" / "mine").unlink()
    assert isinstance(land(repository, prepared, MAIN), Landed)
    assert (checkout / "src").read_text() == "a file now\n"


def test_a_file_in_the_way_of_a_folder_blocks(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"folder/new": "x\n"})
    write(checkout, {"folder": "the person's\n"})
    assert land(repository, prepared, MAIN) == Blocked("uncommitted changes stand in the way: folder", ("folder",))
    assert (checkout / "folder").read_bytes() == b"the person's\n"


def test_a_staged_edit_in_the_way_blocks_and_stays_staged(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"a.txt": "x\n"})
    write(checkout, {"a.txt": "staged\n"})
    sh(checkout, "add", "a.txt")
    write(checkout, {"a.txt": "x\n"})  # even though the file itself is as it will be
    assert isinstance(land(repository, prepared, MAIN), Blocked)
    assert sh(checkout, "show", ":a.txt") == "staged"


def test_the_same_edit_by_the_person_does_not_block(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"a.txt": "x\n", "new": "n\n"})
    write(checkout, {"a.txt": "x\n", "new": "n\n"})
    assert land(repository, prepared, MAIN) == Landed(prepared.commit)
    assert sh(checkout, "status", "--porcelain") == ""


def test_an_unfinished_merge_of_the_person_blocks(pool: Pool, repository: Repository, checkout: Path) -> None:
    prepared = prepared_from(pool, repository, {"new": "x\n"})
    sh(checkout, "branch", "side")
    write(checkout, {"b.txt": "b2\n"})
    (checkout / ".git" / "MERGE_HEAD").write_text(head(checkout) + "\n")
    outcome = land(repository, prepared, MAIN)
    assert isinstance(outcome, Blocked)
    assert "not concluded your merge" in outcome.reason
    assert not (checkout / "new").exists()


def test_settings_that_would_stash_or_squash_or_ask_for_signatures_do_not_matter(
    pool: Pool, repository: Repository, checkout: Path
) -> None:
    sh(checkout, "config", "merge.autoStash", "true")
    sh(checkout, "config", "merge.verifySignatures", "true")
    sh(checkout, "config", "branch.main.mergeOptions", "--squash --no-ff")
    write(checkout, {"a.txt": "the person's\n"})
    prepared = prepared_from(pool, repository, {"a.txt": "x\n"})
    assert isinstance(land(repository, prepared, MAIN), Blocked)
    assert (checkout / "a.txt").read_bytes() == b"the person's\n"
    assert sh(checkout, "stash", "list") == ""
    sh(checkout, "checkout", "-q", "a.txt")
    assert isinstance(land(repository, prepared, MAIN), Landed)
    assert head(checkout) == prepared.commit


def test_hooks_of_the_person_do_not_run(pool: Pool, repository: Repository, checkout: Path, tmp_path: Path) -> None:
    for name in ("post-merge", "pre-merge-commit", "post-checkout", "reference-transaction"):
        hook = checkout / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\nexit 1\n")
        hook.chmod(0o755)
    landed_from(pool, repository, {"a.txt": "x\n"})
    assert list(tmp_path.glob("ran-*")) == []


def test_converted_line_endings_land(checkout: Path, tmp_path: Path) -> None:
    sh(checkout, "config", "core.autocrlf", "true")
    (checkout / "a.txt").unlink()
    sh(checkout, "checkout", "-q", "a.txt")
    repository = opened(checkout)
    with Pool(repository, tmp_path / "pool") as pool:
        landed_from(pool, repository, {"a.txt": "one\r\ntwo\r\n"})
    assert (checkout / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert sh(checkout, "show", "HEAD:a.txt") == "one\ntwo"
    assert sh(checkout, "status", "--porcelain") == ""


def test_a_sparse_checkout_stays_sparse(pool: Pool, repository: Repository, checkout: Path) -> None:
    sh(checkout, "sparse-checkout", "set", "docs")
    landed_from(pool, repository, {"src/c.txt": "out of sight\n", "docs/d.txt": "d\n"})
    assert not (checkout / "src").exists()
    assert (checkout / "docs" / "d.txt").read_text() == "d\n"
    assert sh(checkout, "status", "--porcelain") == ""


# --- a repository without commits --------------------------------------------------------------------------------


def test_the_first_commit_lands(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "empty", {})
    repository = opened(checkout)
    with Pool(repository, tmp_path / "pool") as pool:
        first, second = pool.take(None), pool.take(None)
        prepared = prepare(repository, done_by(first, {"a.txt": "first\n"}))
        assert isinstance(prepared, Prepared)
        assert (prepared.head, prepared.is_fast_forward) == (None, True)
        write(checkout, {"mine": "x\n"})
        assert land(repository, prepared, MAIN) == Landed(prepared.commit)
        assert parents(checkout, "HEAD") == ""
        assert sh(checkout, "status", "--porcelain") == "?? mine"
        other = prepare(repository, done_by(second, {"b.txt": "second\n"}))
        assert isinstance(other, Prepared)
        assert isinstance(land(repository, other, MAIN), Landed)
    assert sh(checkout, "ls-tree", "--name-only", "HEAD") == "a.txt\nb.txt"
    assert sh(checkout, "rev-list", "--count", "HEAD") == "2"


@pytest.mark.parametrize("is_ignored", [False, True])
def test_files_in_the_way_of_the_first_commit_block(tmp_path: Path, is_ignored: bool) -> None:
    checkout = make_checkout(tmp_path / "empty", {})
    repository = opened(checkout)
    write(checkout, {"a.txt": "the person's\n", **({".gitignore": "*.txt\n"} if is_ignored else {})})
    with Pool(repository, tmp_path / "pool") as pool:
        prepared = prepared_from(pool, repository, {"a.txt": "first\n"})
        outcome = land(repository, prepared, MAIN)
        assert isinstance(outcome, Blocked)
        assert outcome.paths == ("a.txt",)
        assert (checkout / "a.txt").read_bytes() == b"the person's\n"
        assert repository.head().commit is None


def test_a_file_in_the_way_of_a_folder_of_the_first_commit_blocks(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "empty", {})
    repository = opened(checkout)
    write(checkout, {"data": "the person's\n", ".gitignore": "data\n"})
    with Pool(repository, tmp_path / "pool") as pool:
        prepared = prepared_from(pool, repository, {"data/file": "first\n"})
        assert land(repository, prepared, MAIN) == Blocked("uncommitted changes stand in the way: data", ("data",))
        assert (checkout / "data").read_bytes() == b"the person's\n"


# --- several runs at once ----------------------------------------------------------------------------------------

LANDER = """
import sys
from pathlib import Path
from aotloop.git.commits.attempt_commit import commit
from aotloop.git.commits.integration import Conflict, land, prepare
from aotloop.git.checkout.fast_forward import Landed, Moved
from aotloop.git.worktrees.pool import Pool
from aotloop.git.repository import find_repository
checkout, folder, me = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
repository = find_repository(checkout)
with Pool(repository, folder) as pool:
    for number in range(6):
        worktree = pool.take(repository.head().commit)
        (worktree.path / f"{me}-{number}").write_text(me)
        done = commit(worktree, f"{me} {number}", {"Aot-Atom": f"{me}-{number}"})
        while True:
            prepared = prepare(repository, done)
            assert not isinstance(prepared, Conflict), prepared
            outcome = land(repository, prepared, "refs/heads/main")
            if isinstance(outcome, Landed):
                break
            assert isinstance(outcome, Moved), outcome
        pool.give_back(worktree)
"""


def test_four_processes_land_at_once_and_nothing_is_lost(checkout: Path, tmp_path: Path) -> None:
    write(checkout, {"b.txt": "the person's\n"})
    words = [sys.executable, "-c", LANDER, str(checkout), str(tmp_path / "pool")]
    running = [subprocess.Popen([*words, f"p{number}"], stderr=subprocess.PIPE, text=True) for number in range(4)]
    for process in running:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    expected = {f"p{number}-{turn}" for number in range(4) for turn in range(6)}
    assert expected <= {path.name for path in checkout.iterdir()}
    assert sh(checkout, "log", "--merges", "--format=%H") == ""
    assert sh(checkout, "rev-list", "--count", "HEAD") == str(1 + len(expected))
    assert sh(checkout, "status", "--porcelain") == " M b.txt"
    assert sh(checkout, "worktree", "list").count("\n") == 0
    assert not (tmp_path / "pool").exists()
    assert sh(checkout, "fsck", "--no-dangling") == ""


# --- how much it costs -------------------------------------------------------------------------------------------


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every start of git, one per line."""
    log = tmp_path / "commands"
    git = sh(tmp_path, "--exec-path") + "/git"
    counting = tmp_path / "bin" / "git"
    counting.parent.mkdir()
    counting.write_text(f'#!/bin/sh\necho "$*" | tr "\\n" " " >> {log}\necho >> {log}\nexec {git} "$@"\n')
    counting.chmod(0o755)
    monkeypatch.setenv("PATH", f"{counting.parent}:{os.environ['PATH']}")
    return log


def test_an_attempt_on_a_kept_worktree_needs_few_git_commands(
    pool: Pool, repository: Repository, checkout: Path, commands: Path
) -> None:
    pool.give_back(pool.take(head(checkout)))
    commands.write_text("")
    landed_from(pool, repository, {"a.txt": "x\n", "new": "y\n"})
    assert len(commands.read_text().splitlines()) <= 9


def test_an_attempt_that_has_to_be_merged_needs_few_more(
    pool: Pool, repository: Repository, checkout: Path, commands: Path
) -> None:
    pool.give_back(pool.take(head(checkout)))
    worktree = pool.take(head(checkout))
    commands.write_text("")
    done = done_by(worktree, {"a.txt": "x\n"})
    count = len(commands.read_text().splitlines())
    write(checkout, {"b.txt": "meanwhile\n"})
    save(checkout)
    commands.write_text("")
    prepared = prepare(repository, done)
    assert isinstance(prepared, Prepared)
    land(repository, prepared, MAIN)
    assert count + len(commands.read_text().splitlines()) <= 10  # and two to take the worktree
