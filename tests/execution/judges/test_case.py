"""Who judges changes nothing, and sees nothing of what others say about the work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.execution.judges.jurors import assertion, command, finds_so, judged, quality, remembered, scores, warnings
from tests.loops import atom
from tests.runner.agents import Order, done, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

ITEM = "It reads well"
BOAST = "flawless-in-every-respect"


def project_with(folder: Path, order: Order, *, git: bool = True, files: dict[str, str] | None = None) -> Project:
    config = scripted(folder, {"A1": [done({"a.txt": "a\n"}, summary=BOAST)], ITEM: [order]})
    items = judged(command("a", "test -f a.txt"), quality(ITEM, clarity=1))
    return a_project(folder, atom("A1"), base_case=items, config=config, git=git, files=files)


# --- a judge that writes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [{"write": {"b.txt": "b\n"}}, {"run": "rm a.txt"}, {"append": {"README.md": "!"}}])
def test_a_judge_that_changes_files_is_not_believed_and_the_checkout_is_as_it_was(tmp_path: Path, order: Order) -> None:
    project = project_with(tmp_path, {**scores(clarity=5), **order})
    assert project.run().code == 6
    (warning,) = (text for text in warnings(project) if text.startswith("undecided: "))
    assert "void: the judge changed files, in its own copy: " in warning
    assert project.is_clean()
    assert (project.root / "README.md").read_text() == "a project\n"
    assert remembered() == []
    assert leftovers(project) == []


def test_what_is_ignored_may_be_left_behind_by_whoever_runs_something(tmp_path: Path) -> None:
    order = {**scores(clarity=5), "write": {"cache/x": "x"}}
    project = project_with(tmp_path, order, files={".gitignore": "cache/\n"})
    assert project.run().code == 0


def test_without_git_the_judge_looks_on_the_spot_and_a_change_is_told_plainly(tmp_path: Path) -> None:
    project = project_with(tmp_path, {**scores(clarity=5), "append": {"README.md": "!"}}, git=False)
    assert project.run().code == 6
    (warning,) = (text for text in warnings(project) if text.startswith("undecided: "))
    assert "void: while it was judged, files in your folder were changed: README.md" in warning


def test_without_git_it_is_judged_as_well_and_once(tmp_path: Path) -> None:
    orders = {"A1": [done({"a.txt": "a\n"})], ITEM: [scores(clarity=4)], "nice": [finds_so()]}
    items = judged(command("a", "test -f a.txt"), quality(ITEM, clarity=1), assertion("nice"))
    project = a_project(tmp_path, atom("A1"), base_case=items, config=scripted(tmp_path, orders), git=False)
    assert [project.run().code, project.run().code] == [6, 6]
    assert times_asked(tmp_path, ITEM) == 1


# --- what is there to be seen --------------------------------------------------------------------------------------


def test_the_copy_has_the_files_and_neither_history_nor_state_file_nor_anything_of_the_worker(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    look = (
        f"mkdir {seen}; git log --format=%s > {seen}/log; find . -type f -not -path './.git*' > {seen}/files;"
        f" env > {seen}/env; cat $AOT_BINDINGS > {seen}/bindings; cat $AOT_STATE_FILE > {seen}/state;"
        f" cat $(dirname $AOT_BINDINGS)/prompt.md > {seen}/prompt; grep -r {BOAST} . > {seen}/boast"
    )
    project = project_with(tmp_path, {**scores(clarity=4), "run": look})
    ran = project.run()
    assert ran.code == 0, ran.err
    assert project.loop.bindings["A1"].summary == BOAST
    assert (seen / "log").read_text() == "what is judged\n"
    assert sorted((seen / "files").read_text().split()) == ["./README.md", "./a.txt", "./aot.toml"]
    assert ((seen / "bindings").read_text(), (seen / "state").read_text()) == ("{}", "")
    assert not any(BOAST in path.read_text() for path in seen.iterdir())
    told = (seen / "prompt").read_text()
    assert "clarity" in told
    assert "threshold" not in told


def test_uncommitted_changes_are_judged_where_a_person_verifies(tmp_path: Path) -> None:
    project = project_with(tmp_path, scores("new.md:2", clarity=4))
    (project.root / "a.txt").write_text("a\n")
    (project.root / "new.md").write_text("one\ntwo\n")
    assert project.aot("verify", "--judge", "--yes").code == 0
    assert project.git("status", "--porcelain").splitlines() != []
    assert project.worktrees() == []


def test_what_set_up_provides_is_there_for_the_judge_too(tmp_path: Path) -> None:
    config = scripted(
        tmp_path,
        {"A1": [done({"a.txt": "a\n"})], ITEM: [{**scores(clarity=4), "run": f"cp made {tmp_path}/seen"}]},
        'setup = "echo made > made"',
    )
    items = judged(command("a", "test -f a.txt"), quality(ITEM, clarity=1))
    project = a_project(tmp_path, atom("A1"), base_case=items, config=config)
    assert project.run().code == 0
    assert (tmp_path / "seen").read_text() == "made\n"


def test_a_project_below_the_top_of_its_repository_is_judged_by_its_own_files(tmp_path: Path) -> None:
    project = project_with(tmp_path, {**scores("deep/b.md:1", clarity=4), "run": f"pwd > {tmp_path}/where"}, git=False)
    (project.root / "deep").mkdir()
    (project.root / "deep" / "b.md").write_text("b\n")
    (tmp_path / ".gitignore").write_text("/*\n!/project/\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "all"]):
        project.has_git = True
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        project.git("-C", str(tmp_path), *who, *words)
    ran = project.run()
    assert ran.code == 0, ran.err
    assert (tmp_path / "where").read_text().rstrip().endswith("/project")
