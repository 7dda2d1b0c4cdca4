"""What a run tells the machine besides outcomes: prices, hints, wishes, and at which commit it begins."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import Constraints
from tests.loops import atom
from tests.runner.agents import Order, done, fails, finds, scripted
from tests.runner.projects import a_project, commands


def says(order: Order, **more: object) -> Order:
    """The answer of this order, with these keys besides."""
    return {**order, "answer": {**order["answer"], **more}}


def test_what_attempts_and_probes_take_is_noted_by_their_kind(tmp_path: Path) -> None:
    usage = {"cost_usd": 0.5, "input": 1, "output": 1}
    orders = {
        "A1?": [says(finds("it can be done"), usage={"cost_usd": 0.125, "input": 1, "output": 1})],
        "A1": [says(fails("no"), usage=usage), says(done({"a": "a"}), usage=usage)],
    }
    first, command = atom("A1", probe=True), atom("A2", run="echo b > b")
    project = a_project(tmp_path, first, command, config=scripted(tmp_path, orders), base_case="test -f a -a -f b")
    assert project.run().code == 0
    prices = project.loop.control.prices
    assert (prices.probes, prices.probes_usd) == (1, 0.125)
    assert (prices.attempts, prices.attempts_usd) == (2, 1.0)  # commands are no attempts of agents
    assert prices.attempts_seconds > 0
    assert prices.negative == 0


def test_a_choice_that_a_worker_names_as_being_in_its_way_is_left(tmp_path: Path) -> None:
    hint = says(fails("a.txt is in my way"), because_of=["P", "no such atom"])
    orders = {"P": [done({"p": "p"})], "Q": [done({"q": "q"})], "B": [hint, done({"b": "b"})]}
    atoms = [atom("P", or_group="G"), atom("Q", or_group="G"), atom("B", "P")]
    project = a_project(tmp_path, *atoms, config=scripted(tmp_path, orders), base_case="test -f b")
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [(one["left"], one["selected"]) for one in ran.kinds("backtracked")] == [("P", "Q")]
    tried = [one["atom"] for one in ran.kinds("attempt_began")]
    assert tried == ["P", "B", "Q", "B"]
    assert project.files() >= {"q", "b"}
    assert "p" not in project.files()
    assert "name its atom in because_of" in (project.root / ".aot" / "attempts" / "B-2" / "prompt.md").read_text()


def test_a_worker_that_asks_for_it_gets_a_probe_before_the_next_attempt(tmp_path: Path) -> None:
    asks = says(fails("it may be impossible"), wants_probe=True)
    orders = {"A1": [asks, done({"a": "a"})], "A1?": [finds("it can be done with care")]}
    project = a_project(tmp_path, atom("A1"), config=scripted(tmp_path, orders), base_case="test -f a")
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one["role"] for one in ran.kinds("attempt_began")] == ["worker", "probe", "worker"]
    assert "it can be done with care" in (project.root / ".aot" / "attempts" / "A1-3" / "prompt.md").read_text()


def counted(folder: Path) -> int:
    return len((folder / "tried").read_text().splitlines())


def test_a_failed_verdict_of_the_same_commit_is_not_tried_again_at_the_start(tmp_path: Path) -> None:
    base = commands(f"echo x >> {tmp_path}/tried; test -f a")
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case=base)
    assert project.aot("verify", "--yes").code == 1
    project.git("add", "--all")
    before = counted(tmp_path)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert ran.kinds("verified")[0]["passed"]
    assert counted(tmp_path) == before + 1


def test_a_verdict_of_another_commit_says_nothing_about_this_one(tmp_path: Path) -> None:
    base = commands(f"echo x >> {tmp_path}/tried; test -f a")
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case=base)
    assert project.aot("verify", "--yes").code == 1
    project.git("commit", "--quiet", "--allow-empty", "--message=something else")
    ran = project.run()
    assert [one["passed"] for one in ran.kinds("verified")] == [False, True]


def test_where_files_may_differ_from_the_commit_the_base_case_is_tried(tmp_path: Path) -> None:
    """A person may have done it by hand since."""
    base = commands("test -f a")
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case=base)
    assert project.aot("verify", "--yes").code == 1
    (project.root / "a").write_text("by hand\n")
    ran = project.run("--allow-dirty")
    assert ran.code == 0, ran.out
    assert ran.kinds("attempt_began") == []


def test_without_git_the_base_case_is_tried_at_the_start(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case=commands("test -f a"), git=False)
    assert project.aot("verify", "--yes").code == 1
    (project.root / "a").write_text("by hand\n")
    ran = project.run()
    assert ran.code == 0, ran.out
    assert ran.kinds("attempt_began") == []


def test_a_resolved_atom_whose_item_fails_is_reopened_and_that_is_told(tmp_path: Path) -> None:
    breaks = done({"b": "b"}, run="rm a")
    orders = {"A1": [done({"a": "a"})], "A2": [breaks]}
    atoms = [atom("A1", covers=("item 1",)), atom("A2", "A1")]
    few = Constraints(max_total_attempts=6)
    base = commands("test -f a", "test -f b")
    project = a_project(tmp_path, *atoms, config=scripted(tmp_path, orders), base_case=base, constraints=few)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one["atoms"] for one in ran.kinds("reopened")] == [["A1"]]
    assert [one["atom"] for one in ran.kinds("attempt_began")] == ["A1", "A2", "A1"]
    assert project.files() >= {"a", "b"}
