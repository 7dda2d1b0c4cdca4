"""What an attempt did is the difference of files, whatever the agent did with git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.git.commits.attempt_commit import changed_paths, commit, keep, ref_of, refuse
from aotloop.git.repository import Repository
from aotloop.git.trees.survey import NotTakeable
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.worktree import Worktree
from tests.git.checkouts import done_by, head, make_checkout, opened, save, sh, write


@pytest.fixture
def worktree(pool: Pool, checkout: Path) -> Worktree:
    return pool.take(head(checkout))


def shown(checkout: Path, commit: str | None) -> dict[str, str]:
    """Every file of the commit."""
    names = sh(checkout, "ls-tree", "-r", "-z", "--name-only", str(commit)).split("\0")[:-1]
    return {name: sh(checkout, "show", f"{commit}:{name}") for name in names}


def test_the_commit_has_every_change_and_one_parent(worktree: Worktree, checkout: Path) -> None:
    (worktree.path / "b.txt").unlink()
    done = done_by(worktree, {"a.txt": "changed\n", "new/file": "new\n"})
    assert done.paths == ("a.txt", "b.txt", "new/file")
    assert shown(checkout, done.sha) == {"a.txt": "changed", "new/file": "new", "src/c.txt": "c"}
    assert sh(checkout, "log", "-1", "--format=%P", str(done.sha)) == done.base == head(checkout)
    assert sh(checkout, "log", "-1", "--format=%B", str(done.sha)).strip() == (
        "A1: work\n\nAot-Atom: A1\nAot-Attempt: 1\nAot-Run: r1"
    )
    assert sh(checkout, "log", "-1", "--format=%an %cn", str(done.sha)) == "A Person A Person"


def test_nothing_done_is_no_commit(worktree: Worktree) -> None:
    (worktree.path / "a.txt").touch()
    (worktree.path / "empty").mkdir()
    done = commit(worktree, "x", {})
    assert (done.sha, done.paths) == (None, ())


def test_what_was_committed_and_taken_back_is_nothing(worktree: Worktree) -> None:
    write(worktree.path, {"a.txt": "x"})
    save(worktree.path)
    sh(worktree.path, "revert", "--no-edit", "HEAD")
    assert commit(worktree, "x", {}).sha is None


def test_commits_of_the_agent_become_one(worktree: Worktree, checkout: Path) -> None:
    for number in range(3):
        write(worktree.path, {f"new-{number}": "x\n"})
        save(worktree.path)
    done = done_by(worktree, {"a.txt": "uncommitted\n"})
    assert sh(checkout, "log", "--format=%H", f"{done.base}..{done.sha}") == done.sha
    assert done.paths == ("a.txt", "new-0", "new-1", "new-2")


def test_an_agent_that_switches_branches_changes_nothing_else(worktree: Worktree, checkout: Path) -> None:
    before = sh(checkout, "for-each-ref")
    sh(worktree.path, "checkout", "-q", "-b", "feature")
    write(worktree.path, {"a.txt": "on a branch\n"})
    save(worktree.path)
    done = commit(worktree, "x", {})
    assert shown(checkout, done.sha)["a.txt"] == "on a branch"
    assert sh(checkout, "for-each-ref") == before


@pytest.mark.parametrize("folder", [".claude/worktrees/helper", "src/helper"])
def test_a_worktree_within_a_worktree_is_no_part_of_the_work(worktree: Worktree, folder: str) -> None:
    sh(worktree.path, "worktree", "add", "-q", "-b", "helper", folder)
    write(worktree.path, {"new": "x"})
    assert changed_paths(worktree) == ("new",)


def test_an_agent_that_rewrites_history_changes_nothing_else(worktree: Worktree, checkout: Path) -> None:
    sh(worktree.path, "checkout", "-q", "--orphan", "fresh")
    write(worktree.path, {"a.txt": "rewritten\n"})
    save(worktree.path)
    done = commit(worktree, "x", {})
    assert done.paths == ("a.txt",)
    assert sh(checkout, "log", "-1", "--format=%P", str(done.sha)) == head(checkout)


def test_an_unfinished_rebase_is_taken_as_the_files_are(worktree: Worktree, checkout: Path) -> None:
    write(worktree.path, {"a.txt": "one\n"})
    one = save(worktree.path)
    sh(worktree.path, "checkout", "-q", "--detach", worktree.base)
    write(worktree.path, {"a.txt": "two\n"})
    save(worktree.path)
    sh(worktree.path, "rebase", one, check=False)
    done = commit(worktree, "x", {})
    assert done.paths == ("a.txt",)
    assert "<<<<<<<" in shown(checkout, done.sha)["a.txt"]


@pytest.mark.parametrize("instead", ["nothing", "another repository", "a folder"])
def test_an_agent_that_deletes_its_git_file_is_not_lost(worktree: Worktree, checkout: Path, instead: str) -> None:
    remove_tree(worktree.path / ".git")
    if instead == "another repository":
        sh(worktree.path, "init", "-q")
    elif instead == "a folder":
        (worktree.path / ".git").mkdir()
    done = done_by(worktree, {"a.txt": "changed\n"})
    assert done.paths == ("a.txt",)
    assert shown(checkout, done.sha)["a.txt"] == "changed"


def test_changes_hidden_from_git_are_found(worktree: Worktree) -> None:
    write(worktree.path, {"a.txt": "hidden\n", "b.txt": "hidden\n"})
    sh(worktree.path, "update-index", "--assume-unchanged", "a.txt")
    sh(worktree.path, "update-index", "--skip-worktree", "b.txt")
    assert changed_paths(worktree) == ("a.txt", "b.txt")


@pytest.mark.parametrize("has_commit", [True, False])
def test_a_nested_repository_becomes_files(worktree: Worktree, checkout: Path, has_commit: bool) -> None:
    nested = worktree.path / "deep" / "nested"
    nested.mkdir(parents=True)
    sh(nested, "init", "-q")
    write(nested, {"file": "x\n", ".gitignore": "*.log\n", "noise.log": "x"})
    if has_commit:
        sh(nested, "add", "-A")
        sh(nested, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x")
    done = done_by(worktree, {"a.txt": "changed\n"})
    assert done.paths == ("a.txt", "deep/nested/.gitignore", "deep/nested/file")
    assert shown(checkout, done.sha)["deep/nested/file"] == "x"


def test_ignored_files_are_nobodys_change(pool: Pool, checkout: Path) -> None:
    write(checkout, {".gitignore": "*.log\n"})
    worktree = pool.take(save(checkout))
    write(worktree.path, {"noise.log": "x", "build/other.log": "x"})
    assert changed_paths(worktree) == ()


@pytest.mark.parametrize(
    ("place", "target", "refusal"),
    [
        ("link", "/etc/passwd", "leads out"),
        ("link", "../outside", "leads out"),
        ("src/link", "../../outside", "leads out"),
        ("link", "src/up/../outside", "goes up again"),
        ("link", "src/x/../c.txt", "goes up again"),
        ("link", "later/..", "goes up again"),
        ("src/link", ".././later//./../a.txt", "goes up again"),
        ("link", "...../..", "goes up again"),
        ("src/link", "../a.txt", None),
        ("src/link", "./.././a.txt", None),
        ("link", "nowhere..", None),
        ("link", "..nowhere/a", None),
    ],
)
def test_a_link_that_leads_out_is_not_taken(worktree: Worktree, place: str, target: str, refusal: str | None) -> None:
    """Seen: such a link passed a check of the kind `file`, and whatever follows it later is elsewhere.

    Seen: `x -> d/..` landed, and then `d -> .`: together they led out.
    """
    (worktree.path / "src" / "x").mkdir(parents=True, exist_ok=True)
    (worktree.path / "src" / "up").symlink_to("..")
    (worktree.path / place).symlink_to(target)
    if refusal is not None:
        with pytest.raises(NotTakeable, match=refusal):
            commit(worktree, "x", {})
    else:
        assert place in commit(worktree, "x", {}).paths


def test_each_of_many_links_is_looked_at(worktree: Worktree) -> None:
    """Names and targets may have line breaks."""
    for number in range(40):
        (worktree.path / f"link{number}").symlink_to(f"new\nline {number}")
    assert len(commit(worktree, "x", {}).paths) == 40
    (worktree.path / "link17").unlink()
    (worktree.path / "link17").symlink_to("/etc")
    with pytest.raises(NotTakeable, match="link17 is a link that leads out"):
        commit(worktree, "x", {})


def test_strange_names_links_and_modes_are_kept(worktree: Worktree, checkout: Path) -> None:
    names = ["with space", "ümläut/ñ", "new\nline", 'quote"', "-dash", "*star", ":colon"]
    write(worktree.path, dict.fromkeys(names, "x\n"))
    (worktree.path / "link").symlink_to("a.txt")
    (worktree.path / "dangling").symlink_to("nowhere")
    (worktree.path / "a.txt").chmod(0o755)
    bytes_name = os.fsencode(worktree.path) + b"/latin-\xe9"
    Path(os.fsdecode(bytes_name)).write_text("x\n")
    done = commit(worktree, "x", {})
    assert set(done.paths) == {*names, "link", "dangling", "a.txt", os.fsdecode(b"latin-\xe9")}
    modes = sh(checkout, "ls-tree", str(done.sha), "a.txt", "link", "b.txt")
    assert [line.split()[0] for line in modes.splitlines()] == ["100755", "100644", "120000"]


def test_a_file_that_becomes_a_folder_is_both_paths(worktree: Worktree) -> None:
    (worktree.path / "a.txt").unlink()
    write(worktree.path, {"a.txt/inner": "x"})
    shutil.rmtree(worktree.path / "src")
    write(worktree.path, {"src": "a file now"})
    assert changed_paths(worktree) == ("a.txt", "a.txt/inner", "src", "src/c.txt")


def test_a_rename_is_both_paths(worktree: Worktree) -> None:
    (worktree.path / "a.txt").rename(worktree.path / "z.txt")
    assert changed_paths(worktree) == ("a.txt", "z.txt")


def test_failing_hooks_and_signing_without_a_key_do_not_matter(worktree: Worktree, checkout: Path) -> None:
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction"):
        hook = checkout / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
    sh(checkout, "config", "commit.gpgSign", "true")
    sh(checkout, "config", "user.signingKey", "NOBODY")
    assert done_by(worktree, {"a.txt": "x"}).sha is not None


def test_files_of_git_lfs_need_no_git_lfs(tmp_path: Path, checkout: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    write(checkout, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "big.bin": pointer})
    save(checkout)
    for key in ("clean", "smudge", "process"):
        sh(checkout, "config", f"filter.lfs.{key}", f"git-lfs {key} -- %f")
    sh(checkout, "config", "filter.lfs.required", "true")
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(head(checkout))
        assert (worktree.path / "big.bin").read_text() == pointer
        assert changed_paths(worktree) == ()
        assert done_by(worktree, {"a.txt": "x", "other.bin": "new\n"}).paths == ("a.txt", "other.bin")


@pytest.mark.parametrize("attributes", ["theirs", "ours", "removed"])
def test_no_filter_runs_and_what_one_is_responsible_for_is_not_taken(
    pool: Pool, checkout: Path, tmp_path: Path, attributes: str
) -> None:
    if attributes != "theirs":
        write(checkout, {".gitattributes": "*.key filter=secret\n"})
        save(checkout)
    sh(checkout, "config", "filter.secret.clean", f"touch {tmp_path}/ran; cat")
    sh(checkout, "config", "filter.secret.smudge", f"touch {tmp_path}/ran; cat")
    with Pool(opened(checkout), pool.folder) as other:
        worktree = other.take(head(checkout))
        write(worktree.path, {"b.txt": "x"})
        assert changed_paths(worktree) == ("b.txt",)
        write(worktree.path, {"a.key": "plain text\n", ".gitattributes": "*.key filter=secret\n"})
        if attributes == "removed":
            (worktree.path / ".gitattributes").unlink()
        with pytest.raises(NotTakeable, match=r"git's filter 'secret' is responsible for a\.key"):
            commit(worktree, "x", {})
    assert not (tmp_path / "ran").exists()


def test_no_attribute_gives_a_file_that_did_not_change_to_a_filter(pool: Pool, checkout: Path) -> None:
    """Seen: it landed, and a program of the project, which an attempt had changed, ran when our git looked at it."""
    sh(checkout, "config", "filter.own.clean", "./clean.sh")
    with Pool(opened(checkout), pool.folder) as other:
        worktree = other.take(head(checkout))
        write(worktree.path, {".gitattributes": "*.md text\n"})
        assert changed_paths(worktree) == (".gitattributes",)
        write(worktree.path, {"src/.gitattributes": "*.txt filter=own\n", "clean.sh": "touch ran\n"})
        with pytest.raises(NotTakeable, match=r"git's filter 'own' is responsible for src/c\.txt"):
            commit(worktree, "x", {})


def test_changes_within_a_submodule_are_said_to_be_left_out(tmp_path: Path, checkout: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    base = save(checkout)
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(base)
        assert commit(worktree, "x", {}).left_out == ()
        done = done_by(worktree, {"library/lib.txt": "changed\n", "a.txt": "changed\n"})
        assert (done.paths, done.left_out) == (("a.txt",), ("library",))


def test_a_submodule_at_another_commit_is_a_change(tmp_path: Path, checkout: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    write(library, {"lib.txt": "newer\n"})
    save(library)
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    base = save(checkout)
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(base)
        sh(worktree.path / "library", "checkout", "-q", "HEAD~1")
        done = commit(worktree, "x", {})
        assert (done.paths, done.left_out) == (("library",), ())


def test_a_submodule_at_a_commit_that_was_only_made_there_is_not_taken(tmp_path: Path, checkout: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    base = save(checkout)
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(base)
        sh(worktree.path / "library", "config", "user.name", "x")
        sh(worktree.path / "library", "config", "user.email", "x")
        write(worktree.path / "library", {"lib.txt": "changed\n"})
        save(worktree.path / "library")
        with pytest.raises(NotTakeable, match="commits in submodules go with the worktree: library"):
            commit(worktree, "x", {})


def test_a_submodule_that_an_agent_adds_is_a_change(tmp_path: Path, checkout: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(head(checkout))
        sh(worktree.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
        assert commit(worktree, "x", {}).paths == (".gitmodules", "library")


def test_converted_line_endings_are_no_changes(checkout: Path, tmp_path: Path) -> None:
    sh(checkout, "config", "core.autocrlf", "true")
    sh(checkout, "config", "core.safecrlf", "true")
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(head(checkout))
        done = done_by(worktree, {"a.txt": "one\r\ntwo\n"})
    assert done.paths == ("a.txt",)
    assert sh(checkout, "cat-file", "-p", f"{done.sha}:a.txt") == "one\ntwo"


def test_files_of_which_git_makes_no_commit_are_told_from_a_machine_that_fails(worktree: Worktree) -> None:
    write(worktree.path, {"x/.GIT/config": "x", "y": "y"})
    with pytest.raises(NotTakeable, match=r"invalid path 'x/\.GIT/config'"):
        changed_paths(worktree)
    remove_tree(worktree.path / "x")
    remove_tree(worktree.own / "index")
    (worktree.own / "index").mkdir()
    with pytest.raises(Unavailable):
        changed_paths(worktree)


def test_messages_cannot_forge_trailers(worktree: Worktree, checkout: Path) -> None:
    write(worktree.path, {"a.txt": "x"})
    done = commit(worktree, "Subject\n\nAot-Atom: FORGED\n\0", {"Aot-Atom": "A 1\n%ü "})
    trailers = sh(checkout, "log", "-1", "--format=%(trailers:key=Aot-Atom,valueonly)", str(done.sha))
    assert trailers.strip() == "A 1%0A%25ü%20"


# --- what may not be changed -------------------------------------------------------------------------------------


def test_the_state_file_our_journal_and_gits_own_are_forbidden() -> None:
    paths = [".claude/aot-loop-state.md", ".aot/x/y", ".AOT", ".aotx", "sub/.git/config", ".gitignore", ".github/x"]
    never = [".claude/aot-loop-state.md", ".aot"]
    assert refuse(paths, [], never) == (".claude/aot-loop-state.md", ".aot/x/y", ".AOT", "sub/.git/config")


def test_patterns_are_seen_from_the_project() -> None:
    paths = ["app/tests/a.py", "tests/a.py", "app/.aot/x", ".aot/x"]
    assert refuse(paths, ["tests/**"], [".aot"], prefix="app") == ("app/tests/a.py", "app/.aot/x")
    assert refuse(paths, ["../tests/**"], [], prefix="app") == ("tests/a.py",)


def test_deleting_and_renaming_a_protected_file_is_forbidden(worktree: Worktree) -> None:
    (worktree.path / "a.txt").unlink()
    (worktree.path / "b.txt").rename(worktree.path / "allowed.txt")
    assert refuse(changed_paths(worktree), ["a.txt", "b.txt"], []) == ("a.txt", "b.txt")


# --- what is kept of an attempt ----------------------------------------------------------------------------------


def test_what_was_not_committed_is_kept(worktree: Worktree, repository: Repository, checkout: Path) -> None:
    before = sh(checkout, "branch", "--all")
    write(worktree.path, {"half": "done\n"})
    ref = keep(repository, worktree, atom="A1", attempt=3)
    assert ref == "refs/aot/attempts/A1-3"
    assert shown(checkout, ref)["half"] == "done"
    assert sh(checkout, "branch", "--all") == before


def test_a_commit_is_kept_and_nothing_is_not(worktree: Worktree, repository: Repository, checkout: Path) -> None:
    assert keep(repository, worktree, atom="A1", attempt=1) is None
    sha = done_by(worktree, {"a.txt": "x"}).sha
    assert sha is not None
    ref = keep(repository, sha, atom="A1", attempt=2)
    assert sh(checkout, "rev-parse", str(ref)) == sha


@pytest.mark.parametrize("atom", ["A1", "a/b..c", "x.lock", "@{", "~^:?*[\\", "ü \n\t", ".", "-", "é" * 300, "a~", "%"])
def test_any_id_has_a_name_that_git_accepts(checkout: Path, atom: str) -> None:
    assert sh(checkout, "check-ref-format", ref_of(atom, 1), check=True) == ""
    sh(checkout, "update-ref", ref_of(atom, 1), "HEAD")


def test_different_ids_have_different_names() -> None:
    ids = ["a", "a.b", "a%2Eb", "a/b", "x" * 300, "x" * 301]
    assert len({ref_of(one, 1) for one in ids}) == len(ids)
