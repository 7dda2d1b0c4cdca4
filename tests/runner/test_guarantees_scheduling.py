"""What starts, when, and in which order: required, ready, startable, slots, generations (DESIGN §5)."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import AtomCheck, Constraints, OrGroup
from tests.loops import atom
from tests.patience import shell_until, shell_until_there
from tests.runner.agents import done, proposes, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import Ran, a_project


def begun(ran: Ran) -> list[str]:
    return [one["atom"] for one in ran.kinds("attempt_began")]


def test_only_what_is_required_is_done(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo p > p"),
        atom("Q", "only for Q", or_group="G", run="echo q > q"),
        atom("only for Q", run="echo x > x"),
        atom("for both", run="echo b > b"),
        atom("D", "P", "for both", run="echo d > d"),
        atom("nobody needs it", run="echo n > n"),
        base_case="test -f d -a -f n",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert sorted(begun(ran)) == ["D", "P", "for both", "nobody needs it"]
    assert project.statuses()["only for Q"] == project.statuses()["Q"] == "pending"
    assert project.files() == {"README.md", "p", "b", "d", "n"}
    assert leftovers(project) == []


def test_what_depends_on_one_choice_waits_for_the_group_and_takes_any(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="exit 1"),
        atom("Q", or_group="G", run="echo q > q"),
        atom("D", "P", run="cp q d"),
        base_case="test -f d",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert begun(ran) == ["P", "Q", "D"]
    assert "q" in project.files()


def test_a_child_that_is_a_choice_stands_for_its_group(tmp_path: Path) -> None:
    parts = [{"description": "one way", "or_group": "way"}, {"description": "another way", "or_group": "way"}]
    orders = {"A1": [proposes(*parts)], "A2": [done({"one": "1"})], "A3": [done({"other": "2"})]}
    project = a_project(
        tmp_path,
        atom("A1", check=AtomCheck(type="command", value="test -f one -o -f other")),
        base_case="test -f one",
        config=scripted(tmp_path, orders),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert begun(ran) == ["A1", "A2"]
    assert project.statuses() == {"A1": "resolved", "A2": "resolved", "A3": "pending"}


def test_the_longest_path_comes_first_then_more_dependents_then_the_order_of_the_file(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("last", run="true"),
        atom("after last", run="true"),
        atom("feeds two", run="true", estimate=1.0),
        atom("x", "feeds two", "feeds one", run="true"),
        atom("y", "feeds two", run="true"),
        atom("feeds one", run="true", estimate=1.0),
        atom("long", run="true", estimate=30.0),
        base_case="false",
        constraints=Constraints(max_parallel_agents=1, max_attempts=1),
    )
    ran = project.run()
    assert begun(ran)[:7] == ["long", "feeds two", "feeds one", "last", "after last", "x", "y"]


def test_slots_do_not_wait_for_each_other_and_a_generation_goes_on_as_long_as_it_lasts(tmp_path: Path) -> None:
    mark, events = tmp_path / "mark", tmp_path / "project" / ".aot" / "events.jsonl"
    merged = shell_until(f"grep merged {events} | grep -q slow")
    project = a_project(
        tmp_path,
        atom("slow", run=shell_until_there(mark), estimate=90.0),
        atom("quick", run="true"),
        atom("then", "quick", run="true"),
        atom("last", "then", run=f"touch {mark}; {merged}"),
        base_case=f"test -f {mark}",
        constraints=Constraints(max_parallel_agents=2),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert begun(ran) == ["slow", "quick", "then", "last"]
    assert project.loop.control.iteration == 1
    assert [(one["iteration"], one["stall_count"]) for one in ran.kinds("generation")] == [(1, 0)]


def test_no_more_attempts_than_slots_are_under_way(tmp_path: Path) -> None:
    count = f"mkdir {tmp_path}/running-$AOT_ATOM_ID; there=$(ls -d {tmp_path}/running-* | wc -l); "
    count += f"echo $there >> {tmp_path}/seen; test $there -lt 2 || touch {tmp_path}/two; "
    count += f"{shell_until_there(tmp_path / 'two')}; sleep 0.05; rmdir {tmp_path}/running-$AOT_ATOM_ID"
    project = a_project(
        tmp_path,
        *(atom(f"A{number}", run=count) for number in range(1, 6)),
        base_case=f"test $(wc -l < {tmp_path}/seen) = 5",
        constraints=Constraints(max_parallel_agents=2),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert max(int(line) for line in (tmp_path / "seen").read_text().split()) == 2


def test_what_touches_the_same_files_never_runs_at_once(tmp_path: Path) -> None:
    alone = f"mkdir {tmp_path}/busy || touch {tmp_path}/clash; sleep 0.05; THEN; rmdir {tmp_path}/busy"
    meets = f"touch {tmp_path}/elsewhere; {shell_until_there(tmp_path / 'busy')}; echo 4 > docs.txt"
    after = f"{shell_until_there(tmp_path / 'elsewhere')}; {alone}"
    project = a_project(
        tmp_path,
        atom("A1", run=after.replace("THEN", "echo 1 >> src/x/a.txt"), touches=("src/x/**",)),
        atom("A2", run=after.replace("THEN", "echo 2 >> src/x/a.txt"), touches=("src/*/a.txt",)),
        atom("A3", run=after.replace("THEN", "echo 3 >> src/x/b.txt"), touches=("SRC/**/*.txt",)),
        atom("A4", run=meets, touches=("docs.txt",)),  # it does run beside them
        files={"src/x/a.txt": "0\n"},
        base_case="test $(wc -l < src/x/a.txt) = 3",
        constraints=Constraints(max_parallel_agents=4),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert not (tmp_path / "clash").exists()
    assert ran.kinds("not_merged") == []
    assert project.files() == {"README.md", "docs.txt", "src/x/a.txt", "src/x/b.txt"}


def test_a_cycle_keeps_the_gate_shut(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", "A2", run="true"), atom("A2", "A1", run="true"))
    before = project.state_file.read_bytes()
    ran = project.run()
    assert ran.code == 3
    assert "dependencies form a cycle" in ran.err
    assert project.state_file.read_bytes() == before


def test_a_cycle_through_a_group_keeps_the_gate_shut(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="true"),
        atom("Q", "D", or_group="G", run="true"),
        atom("D", "P", run="true"),
    )
    ran = project.run()
    assert ran.code == 3
    assert "dependencies form a cycle" in ran.err


def test_a_proposal_that_closes_a_cycle_is_refused_as_a_failed_attempt(tmp_path: Path) -> None:
    cyclic = proposes(
        {"name": "one", "description": "one", "depends_on": ["two"]},
        {"name": "two", "description": "two", "depends_on": ["one"]},
    )
    orders = {"A1": [cyclic, done({"a": "a"})]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.statuses() == {"A1": "resolved"}
    assert "its proposal was refused: that would close a cycle" in project.loop.trail[0].reason
    assert times_asked(tmp_path, "A1") == 2


def test_in_a_race_every_untried_choice_is_ready_at_once(tmp_path: Path) -> None:
    def meet(mine: str, other: str) -> str:
        return f"touch {tmp_path}/{mine}; {shell_until_there(tmp_path / other)}"

    project = a_project(
        tmp_path,
        atom("P", or_group="G", run=meet("p", "q") + "; sleep 3600"),
        atom("Q", or_group="G", run=meet("q", "p") + "; echo q > q"),
        atom("failed before", or_group="G", run="echo f > f"),
        or_groups={
            "G": OrGroup(choices=("P", "Q", "failed before"), selected="P", failed=("failed before",), speculative=True)
        },
        base_case="test -f q",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert sorted(begun(ran)) == ["P", "Q"]
    assert [one["outcome"] for one in ran.kinds("attempt_ended") if one["atom"] == "P"] == ["cancelled"]
    assert project.loop.or_groups["G"].selected == project.loop.or_groups["G"].won == "Q"
    assert leftovers(project) == []
