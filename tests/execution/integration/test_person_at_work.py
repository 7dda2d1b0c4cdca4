"""A person at work in the same checkout: edits, commits, other branches, resets (DESIGN §7)."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import atom
from tests.patience import PATIENCE, shell_until_there, until
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

ONCE = Constraints(max_attempts=1)


def was_told(project: Project, kind: str, **more: object) -> bool:
    facts = {"kind": kind, **more}
    return any(all(one.get(name) == value for name, value in facts.items()) for one in project.news())


def test_uncommitted_changes_are_refused_with_advice_before_anything_happens(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    (project.root / "README.md").write_text("mine\n")
    (project.root / "new ä.txt").write_text("mine\n")
    state = project.state_file.read_bytes()
    ran = project.run()
    assert ran.code == 1
    assert "there are changes that are not committed: README.md, new ä.txt" in ran.err
    assert "git stash -u" in ran.err
    assert "--allow-dirty" in ran.err
    assert project.state_file.read_bytes() == state
    assert not (project.root / ".aot").exists()
    assert leftovers(project) == []


def test_with_allow_dirty_a_persons_edits_are_neither_seen_nor_touched(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="cat README.md > seen; test ! -e new.txt"), base_case="test -f seen")
    (project.root / "README.md").write_text("mine\n")
    (project.root / "staged.txt").write_text("mine\n")
    project.git("add", "staged.txt")
    (project.root / "new.txt").write_text("mine\n")
    ran = project.run("--allow-dirty")
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "seen").read_text() == "a project\n"
    assert (project.root / "README.md").read_text() == "mine\n"
    status = project.git("status", "--porcelain", "README.md", "staged.txt", "new.txt").splitlines()
    assert [one for one in status if ".claude" not in one] == ["M README.md", "A  staged.txt", "?? new.txt"]
    assert project.files() == {"README.md", "seen"}


def test_edits_in_the_way_block_one_atom_while_others_go_on_and_are_never_touched(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo agent > README.md"),
        atom("A2", run="echo b > b"),
        atom("A3", "A2", run="cp b c"),
        base_case="test -f c && grep -q agent README.md",
        constraints=Constraints(max_parallel_agents=1),
    )
    (project.root / "README.md").write_text("mine\n")
    ran = project.run("--allow-dirty")
    assert ran.code == 6, ran.out
    assert (project.loop.control.stop_reason or "") == "blocked: uncommitted changes stand in the way: README.md"
    assert (project.root / "README.md").read_text() == "mine\n"
    assert project.statuses() == {"A1": "pending", "A2": "resolved", "A3": "resolved"}
    assert project.atom("A1").attempts == 0
    assert len(ran.kinds("not_merged")) == 1
    project.git("checkout", "-q", "README.md")
    again = project.run()
    assert again.code == 0, again.out
    assert again.kinds("attempt_began") == []  # the result was there, and nothing is paid for twice
    assert (project.root / "README.md").read_text() == "agent\n"
    assert leftovers(project) == []


def test_what_was_blocked_is_merged_as_soon_as_the_way_is_free(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo agent > README.md"),
        atom("A2", run=shell_until_there(tmp_path / "go")),
        base_case="grep -q agent README.md",
    )
    (project.root / "README.md").write_text("mine\n")
    with project.running("--allow-dirty") as process:
        until(lambda: (project.root / ".aot").exists() and was_told(project, "not_merged", why="blocked"))
        project.git("checkout", "-q", "README.md")
        until(lambda: was_told(project, "merged", atom="A1"))
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert leftovers(project) == []


def test_an_ignored_file_in_the_way_is_not_overwritten(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo agent > secret.env; git add -f secret.env; echo a > a"),  # ignored, so nobody's change
        atom("A2", run="echo nothing > .gitignore; echo agent > secret.env"),
        files={".gitignore": "*.env\n"},
        base_case="false",
    )
    (project.root / "secret.env").write_text("mine\n")
    ran = project.run()
    assert ran.code == 6, ran.out
    assert project.loop.control.stop_reason == "blocked: uncommitted changes stand in the way: secret.env"
    assert (project.root / "secret.env").read_text() == "mine\n"
    assert project.statuses() == {"A1": "resolved", "A2": "pending"}
    assert project.files() == {"README.md", ".gitignore", "a"}


def test_a_person_who_commits_meanwhile_loses_nothing(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=f"touch {tmp_path}/begun; {shell_until_there(tmp_path / 'go')}; echo a > a"),
        base_case="test -f a -a -f mine",
    )
    with project.running() as process:
        until((tmp_path / "begun").exists)
        (project.root / "mine").write_text("mine\n")
        project.git("add", "--all")  # the state file, too
        project.git("commit", "-qm", "by a person")
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert project.subjects() == ["by a person", "A1: do A1"]
    assert project.files() == {"README.md", "mine", "a"}


def ended_on_another_branch(project: Project, folder: Path) -> int:
    """How a run ends if a person goes to another branch while its first attempt is made."""
    with project.running() as process:
        until((folder / "begun").exists)
        project.git("checkout", "-q", "-b", "aside")
        (project.root / "README.md").write_text("mine\n")
        project.git("commit", "-qm", "aside", "README.md")
        (folder / "go").touch()
        return process.wait(PATIENCE)


def test_on_another_branch_results_wait_and_the_branch_the_run_began_on_is_where_they_belong(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=f"touch {tmp_path}/begun; {shell_until_there(tmp_path / 'go')}; echo agent > README.md"),
        atom("A2", "A1", run="cp README.md copy"),
        base_case="test -f copy",
        constraints=ONCE,
    )
    assert ended_on_another_branch(project, tmp_path) == 6
    assert project.loop.control.stop_reason == "blocked: branch main was checked out, now it is branch aside"
    assert project.git("log", "-1", "--format=%s", "aside") == "aside"
    project.git("checkout", "-q", "main")
    again = project.run()
    assert again.code == 0, again.out
    assert [one["atom"] for one in again.kinds("attempt_began")] == ["A2"]
    assert (project.root / "copy").read_text() == "agent\n"
    assert leftovers(project, ("main", "aside")) == []


def test_attempts_start_from_the_branch_of_the_run_whatever_is_checked_out(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=f"touch {tmp_path}/begun; {shell_until_there(tmp_path / 'go')}"),
        atom("A2", "A1", run="cp README.md seen"),
        base_case="grep -q 'a project' seen",
        constraints=ONCE,
    )
    assert ended_on_another_branch(project, tmp_path) == 6
    project.git("checkout", "-q", "main")
    again = project.run()
    assert again.code == 0, again.out
    assert again.kinds("attempt_began") == []
    assert (project.root / "seen").read_text() == "a project\n"


def test_what_was_given_up_is_taken_back_from_the_branch_of_the_run_or_not_at_all(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo pppp > p"),
        atom("Q", or_group="G", run="echo qqqq > q"),
        atom(
            "D",
            "P",
            run=f"touch {tmp_path}/begun; {shell_until_there(tmp_path / 'go')}",
            check=AtomCheck(type="file", value="q"),
        ),
        base_case="test -f q",
        constraints=ONCE,
    )
    with project.running() as process:
        until((tmp_path / "begun").exists)
        project.git("checkout", "-q", "-b", "aside", "HEAD~1")
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 6
    reason = project.loop.control.stop_reason or ""
    assert reason == (
        "blocked: what was given up cannot be taken back: branch main was checked out, now it is branch aside"
    )
    project.git("checkout", "-q", "main")
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert project.files() == {"README.md", "q"}


def test_a_branch_that_was_reset_under_us_takes_no_more_results(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", "A1", run=f"touch {tmp_path}/begun; {shell_until_there(tmp_path / 'go')}; echo b > b"),
        base_case="test -f a -a -f b",
    )
    with project.running() as process:
        until((tmp_path / "begun").exists)
        landed = project.git("rev-parse", "HEAD")
        state = project.state_file.read_bytes()
        project.git("reset", "-q", "--hard", "HEAD~1")
        project.state_file.write_bytes(state)
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 6
    assert "branch main was reset" in (project.loop.control.stop_reason or "")
    assert project.subjects() == []
    again = project.run()
    assert again.code == 6
    assert "does not contain what was done so far" in again.err
    project.git("merge", "-q", "--ff-only", landed)
    assert project.run().code == 0
    assert project.subjects() == ["A1: do A1", "A2: do A2"]
    assert leftovers(project) == []


def test_a_conflict_with_what_a_person_committed_meanwhile_is_no_failure(tmp_path: Path) -> None:
    waits = f"touch {tmp_path}/begun; {shell_until_there(tmp_path / 'go')}"
    project = a_project(
        tmp_path,
        atom("A1", run=f"{waits}; echo by the atom >> shared.txt"),
        base_case="grep -q atom shared.txt && grep -q person shared.txt",
        files={"shared.txt": "first\n"},
    )
    with project.running() as process:
        until((tmp_path / "begun").exists)
        (project.root / "shared.txt").write_text("first\nby the person\n")
        project.git("commit", "--quiet", "--all", "--message=of the person")
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert project.atom("A1").attempts == 0
    assert project.is_clean()
