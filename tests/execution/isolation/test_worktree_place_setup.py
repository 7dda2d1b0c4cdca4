"""What readies a worktree (setup, copy, link), and work without worktrees at all (DESIGN §7)."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.agents import done, fails, scripted
from tests.runner.leftovers import leftovers
from tests.runner.projects import a_project, asleep
from tests.runner.stubborn import of_run

ONE_SLOT = Constraints(max_parallel_agents=1)


def toml(text: str) -> str:
    return text.replace("'", '"') + "\n"


def test_set_up_runs_once_for_each_slot_and_again_when_its_inputs_change(tmp_path: Path) -> None:
    config = toml(
        f"setup = 'echo x >> {tmp_path}/times; mkdir -p deps; cp lock deps/lock; date > stamp; echo y > lock'"
    )
    project = a_project(
        tmp_path,
        atom("A1", run="cat deps/lock > a; git status --porcelain > status"),
        atom("A2", "A1", run="cat deps/lock > b"),
        atom("A3", "A2", run="echo two > lock"),
        atom("A4", "A3", run="cat deps/lock > c"),
        files={"lock": "one\n", ".gitignore": "deps/\n"},
        base_case="test -f c",
        config=config + toml("setup_inputs = ['lock']"),
    )
    ran = project.run("--max-parallel", "1")
    assert ran.code == 0, ran.out
    assert (tmp_path / "times").read_text() == "x\nx\n"
    assert [(project.root / name).read_text() for name in ("a", "b", "c")] == ["one\n", "one\n", "two\n"]
    assert "lock" not in (project.root / "status").read_text()  # what set-up did to files of the project is undone
    assert project.files() == {"README.md", ".gitignore", "aot.toml", "lock", "a", "b", "c", "status"}
    assert not (project.root / "deps").exists()
    assert leftovers(project) == []


def test_files_that_git_does_not_know_are_copied_or_linked_and_are_nobodys_work(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="cat .env 'dat a/big' config/x.local.json > a; test -L 'dat a' -a ! -L .env; echo more >> .env"),
        atom("A2", "A1", run="cat .env > b"),
        files={".gitignore": ".env\ndat a\n", "config/y.json": "y\n"},
        base_case="test -f b",
        config=toml("copy = ['.env', 'config/*.local.json', 'README.md']\nlink = ['dat a']"),
        constraints=ONE_SLOT,
    )
    (project.root / ".env").write_text("secret\n")
    (project.root / "dat a").mkdir()
    (project.root / "dat a" / "big").write_text("big\n")
    (project.root / "config" / "x.local.json").write_text("local\n")
    ran = project.run("--allow-dirty")
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "a").read_text() == "secret\nbig\nlocal\n"
    assert (project.root / "b").read_text() == "secret\n"  # what an attempt did to it is not seen by the next one
    assert (project.root / ".env").read_text() == "secret\n"
    assert project.files() == {"README.md", ".gitignore", "aot.toml", "config/y.json", "a", "b"}


def test_a_set_up_that_fails_blocks_with_its_output_and_costs_no_attempt(tmp_path: Path) -> None:
    project = a_project(
        tmp_path, atom("A1", run="true"), base_case="false", config=toml("setup = 'echo no network >&2; exit 9'")
    )
    ran = project.run()
    assert ran.code == 6, ran.out
    reason = project.loop.control.stop_reason or ""
    assert reason.startswith("blocked: A1: set-up failed with exit 9")
    assert "no network" in reason
    assert project.atom("A1").attempts == 0
    assert leftovers(project) == []


def test_a_stop_does_not_wait_for_set_up(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"), base_case="false", config=toml("setup = 'sleep 9751'"))
    with project.running() as process:
        until(lambda: asleep(9751))
        project.aot("stop")
        assert process.wait(PATIENCE) == 7
    assert asleep(9751) == []
    assert leftovers(project) == []


def test_worktrees_lie_where_the_configuration_says_and_are_gone_in_the_end(tmp_path: Path) -> None:
    config = toml(f"worktrees = '{tmp_path}/wörk trees'")
    project = a_project(tmp_path, atom("A1", run="pwd > where"), base_case="test -f where", config=config)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert Path((project.root / "where").read_text().strip()).parent == tmp_path / "wörk trees"
    assert not (tmp_path / "wörk trees").exists()
    inside = a_project(tmp_path / "2", atom("A1", run="true"), config=toml(f"worktrees = '{tmp_path}/2/project/w'"))
    refused = inside.run()
    assert refused.code == 1
    assert "worktrees cannot be in the checkout itself" in refused.err


# --- in place ----------------------------------------------------------------------------------------------------


def test_without_a_repository_one_worker_at_a_time_works_in_place(tmp_path: Path) -> None:
    alone = f"mkdir {tmp_path}/busy || exit 1; sleep 0.1; pwd > $AOT_ATOM_ID; rmdir {tmp_path}/busy"
    project = a_project(
        tmp_path,
        atom("A1", run=alone),
        atom("A2", run=alone),
        atom("A3", "A1", "A2", run="cat A1 A2 > A3"),
        git=False,
        base_case="test -f A3",
    )
    ran = project.run("--max-parallel", "3")
    assert ran.code == 0, ran.out
    assert set((project.root / "A3").read_text().split()) == {str(project.root)}
    assert ran.kinds("run_began")[0]["isolation"] == "none"
    assert ran.kinds("run_began")[0]["slots"] == 1
    assert leftovers(project) == []


def test_with_isolation_none_a_repository_gets_no_commits_and_may_be_dirty(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a >> README.md"),
        atom("A2", "A1", run="pwd > b"),
        base_case="test -f b",
        config=toml("isolation = 'none'"),
    )
    (project.root / "README.md").write_text("mine\n")
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "README.md").read_text() == "mine\na\n"
    assert project.subjects() == []
    assert [one["commit"] for one in ran.kinds("merged")] == [None, None]
    assert leftovers(project) == []


def test_in_place_protected_files_are_watched_and_a_person_puts_them_back(tmp_path: Path) -> None:
    orders = {"A1": [done(run="echo x >> tests/t.py"), done({"a": "a"})]}
    project = a_project(
        tmp_path,
        atom("A1"),
        git=False,
        files={"tests/t.py": "t\n"},
        base_case="test -f a",
        protect=("tests/**",),
        config=scripted(tmp_path, orders),
    )
    ran = project.run()
    assert ran.code == 6, ran.out
    assert "it changed what no attempt may change" in project.loop.trail[0].reason
    (project.root / "tests/t.py").write_text("t\n")
    ran = project.run()
    assert ran.code == 0, ran.out


def test_in_place_what_was_given_up_stays_and_that_is_said(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo p > p"),
        atom("Q", or_group="G", run="echo q > q"),
        atom("D", "P", run="true", check=AtomCheck(type="file", value="q")),
        git=False,
        base_case="test -f q",
        constraints=Constraints(max_attempts=1),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    texts = [one["text"] for one in ran.kinds("warning")]
    assert any("what P did cannot be taken back: attempts are made in place" in text for text in texts), texts


def test_in_place_a_failed_attempt_is_tried_again_and_a_killed_run_goes_on(tmp_path: Path) -> None:
    orders = {"A1": [fails("no"), done({"a": "a"}, touch=str(tmp_path / "begun"), after=str(tmp_path / "go"))]}
    project = a_project(tmp_path, atom("A1"), git=False, base_case="test -f a", config=scripted(tmp_path, orders))
    with project.running() as process:
        until((tmp_path / "begun").exists)
        process.kill()
        process.wait()
    until(lambda: not of_run(project), "its agent outlives it")
    (tmp_path / "go").touch()
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (project.atom("A1").status, project.atom("A1").failures) == ("resolved", 1)
    assert leftovers(project) == []
