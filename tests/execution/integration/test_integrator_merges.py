"""From a result to the branch: merged off-tree, checked again, landed in one step; and what keeps it from that (§7)."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import AtomCheck, Constraints, OrGroup
from tests.loops import atom
from tests.patience import shell_until
from tests.runner.agents import done, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

TEN = "".join(f"{number}\n" for number in range(1, 11))


def merged(project: Project, atom_id: str) -> str:
    """A command that waits until this atom's work is on the branch."""
    return shell_until(f"grep '\"merged\"' {project.root}/.aot/events.jsonl | grep -q '\"{atom_id}\"'")


def in_folder(tmp_path: Path) -> Project:
    """As `a_project` will make it."""
    return Project(tmp_path / "project")


def test_what_moved_meanwhile_is_merged_and_history_stays_a_line(tmp_path: Path) -> None:
    other = merged(in_folder(tmp_path), "A2")
    project = a_project(
        tmp_path,
        atom("A1", run=f"sed -i 's/^1$/one/' ten; {other}"),
        atom("A2", run="sed -i 's/^10$/ten/' ten"),
        files={"ten": TEN},
        base_case="grep -q one ten && grep -q '^ten$' ten",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.subjects() == ["A2: do A2", "A1: do A1"]
    assert project.git("rev-list", "--min-parents=2", "HEAD") == ""
    assert project.git("reflog", "--format=%gs", "-2") == "aot: Fast-forward\naot: Fast-forward"
    assert (project.root / "ten").read_text() == TEN.replace("10", "ten").replace("1\n", "one\n", 1)
    assert project.is_clean()
    assert leftovers(project) == []


def test_a_conflict_costs_no_attempt_and_the_two_run_apart_from_then_on(tmp_path: Path) -> None:
    first = merged(in_folder(tmp_path), "A2")
    project = a_project(
        tmp_path,
        atom("A1", run=f"test -e {tmp_path}/again || {first}; touch {tmp_path}/again; echo A1 >> list"),
        atom("A2", run="echo A2 >> list"),
        files={"list": "0\n"},
        base_case="grep -q A1 list && grep -q A2 list",
        constraints=Constraints(max_attempts=1),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    lost = ran.kinds("not_merged")
    assert [(one["atom"], one["why"], one["reason"]) for one in lost] == [
        ("A1", "conflict", "with what A2 contributed")
    ]
    assert (project.root / "list").read_text() == "0\nA2\nA1\n"
    assert not (project.root / ".git" / "MERGE_HEAD").exists()
    assert project.atom("A1").attempts == 0
    assert project.loop.trail == []
    assert leftovers(project) == []


def test_what_passes_alone_but_not_together_is_refused_and_does_not_reach_the_branch(tmp_path: Path) -> None:
    other = merged(in_folder(tmp_path), "A2")
    project = a_project(
        tmp_path,
        atom(
            "A1",
            run=f"test -f two && echo both > both || {{ echo 1 > one; {other}; }}",
            check=AtomCheck(type="command", value=f"pwd >> {tmp_path}/checked; ! test -f one -a -f two"),
        ),
        atom("A2", run="echo 2 > two"),
        base_case="test -f both",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one["why"] for one in ran.kinds("not_merged")] == ["refused"]
    assert "together with what was merged meanwhile, check of A1" in project.loop.trail[0].reason
    assert project.atom("A1").failures == 1
    assert project.files() == {"README.md", "two", "both"}
    checked = (tmp_path / "checked").read_text().split()
    assert len(checked) >= 3  # where it was made, and again with what had been merged
    assert not any(Path(one).is_relative_to(project.root) for one in checked)
    assert project.git("log", "--format=%s", "--all", "--", "one") != ""  # kept, under refs/aot/


def test_results_reach_the_branch_one_after_the_other_each_on_top_of_all_before(tmp_path: Path) -> None:
    meet = f"mkdir {tmp_path}/at-$AOT_ATOM_ID; " + shell_until(f"test $(ls -d {tmp_path}/at-* | wc -l) = 4")
    project = a_project(
        tmp_path,
        *(
            atom(f"A{number}", run=f"{meet}; sed -i 's/^{2 * number}$/by A{number}/' ten; echo > file{number}")
            for number in range(1, 5)
        ),
        files={"ten": TEN},
        base_case="test $(grep -c by ten) = 4",
        constraints=Constraints(max_parallel_agents=4),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert len(project.subjects()) + len(ran.kinds("not_merged")) == len(ran.kinds("attempt_began"))
    assert sorted(project.subjects()) == [f"A{number}: do A{number}" for number in range(1, 5)]
    assert project.is_clean()
    assert leftovers(project) == []


def test_in_a_race_the_first_that_passes_and_is_merged_wins_and_nothing_of_others_is_there(tmp_path: Path) -> None:
    check = AtomCheck(type="command", value="test -f good")
    orders = {
        "hasty": [done({"bad": "b"}), done({"bad": "b"}, after=str(tmp_path / "never"))],
        "sound": [done({"good": "g"}, after=str(tmp_path / "asked twice"))],
        "slow": [done({"good": "s", "slow": "s"}, after=str(tmp_path / "never"))],
    }
    orders["hasty"][1]["touch"] = str(tmp_path / "asked twice")
    names = ("hasty", "sound", "slow")
    project = a_project(
        tmp_path,
        *(atom(name, or_group="G", check=check) for name in names),
        atom("D", "hasty", run="cp good d"),
        or_groups={"G": OrGroup(choices=names, selected="hasty", speculative=True)},
        base_case="test -f d",
        config=scripted(tmp_path, orders),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.loop.or_groups["G"].won == "sound"
    assert project.files() == {"README.md", "aot.toml", "good", "d"}
    outcomes = {(one["atom"], one["outcome"]) for one in ran.kinds("attempt_ended")}
    assert outcomes >= {("hasty", "failed"), ("hasty", "cancelled"), ("slow", "cancelled"), ("sound", "done")}
    assert project.statuses()["slow"] == "pending"
    assert leftovers(project) == []


def test_when_all_racers_are_done_at_once_one_wins_and_late_results_are_discarded(tmp_path: Path) -> None:
    meet = f"mkdir {tmp_path}/at-$AOT_ATOM_ID; until test $(ls -d {tmp_path}/at-* | wc -l) = 3; do :; done"
    names = ("P", "Q", "R")
    project = a_project(
        tmp_path,
        *(atom(name, or_group="G", run=f"{meet}; echo {name} > won; echo {name} > {name}") for name in names),
        or_groups={"G": OrGroup(choices=names, selected="P", speculative=True)},
        base_case="test -f won",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    winner = (project.root / "won").read_text().strip()
    assert project.files() == {"README.md", "won", winner}
    assert project.loop.or_groups["G"].won == winner
    assert project.statuses() == {name: "resolved" if name == winner else "pending" for name in names}
    assert set(project.loop.bindings) == {winner}
    assert leftovers(project) == []


def test_racers_may_not_decompose(tmp_path: Path) -> None:
    answer = {"success": False, "reason": "big", "proposal": {"reason": "big", "children": [{"description": "x"}]}}
    orders = {"P": [{"answer": answer}], "Q": [done({"q": "q"}, after=str(tmp_path / "P gave up"))]}
    orders["P"].append({"answer": answer, "touch": str(tmp_path / "P gave up")})
    project = a_project(
        tmp_path,
        atom("P", or_group="G"),
        atom("Q", or_group="G"),
        or_groups={"G": OrGroup(choices=("P", "Q"), selected="P", speculative=True)},
        base_case="test -f q",
        config=scripted(tmp_path, orders),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "racers are not decomposed" in project.loop.trail[0].reason
    assert set(project.statuses()) == {"P", "Q"}
    assert times_asked(tmp_path, "P") == 2
