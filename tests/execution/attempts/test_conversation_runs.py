"""One conversation takes several atoms, one after another; after anything but a merged result there is a new one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, Constraints
from tests.execution.conversations import left_by_conversations, remembering, sessions, told
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.agents import done, scripted
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, Ran, a_project

ONE_AT_A_TIME = Constraints(max_parallel_agents=1)
NAMES = ("A1", "A2", "A3", "A4")
ALL = " && ".join(f"test -f {name}.txt" for name in NAMES)


def ran_to_its_end(project: Project) -> Ran:
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (left_by_conversations(project.root), leftovers(project)) == ([], [])
    return ran


def four_atoms(folder: Path, config: str, **more: object) -> Project:
    atoms = [atom(name) for name in NAMES]
    return a_project(folder, *atoms, base_case=ALL, config=config, constraints=ONE_AT_A_TIME, **more)  # type: ignore[arg-type]


def test_one_conversation_takes_all_and_each_is_merged_and_paid_for_itself(tmp_path: Path) -> None:
    project = four_atoms(tmp_path, remembering(tmp_path))
    ran = ran_to_its_end(project)
    assert [one.goes_on for one in told(tmp_path)] == [False, True, True, True]
    assert sessions(tmp_path) == [["A1", "A2", "A3", "A4"]]
    assert sorted(project.subjects()) == [f"{name}: do {name}" for name in NAMES]
    ended = ran.kinds("attempt_ended")
    assert [(one["outcome"], one["cost_usd"], one["used"]["input"]) for one in ended] == [("done", 0.25, 100)] * 4
    assert (project.loop.control.cost_usd, project.loop.control.used.input) == (1.0, 400)
    prompts = [(project.root / f".aot/attempts/{name}-{n}/prompt.md").read_text() for n, name in enumerate(NAMES, 1)]
    assert ["Your last task is over" in one for one in prompts] == [False, True, True, True]
    assert all(f"> do {name}" in one for name, one in zip(NAMES, prompts, strict=True))
    assert all("Every file in it is as you left it." in one for one in prompts[1:])


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("max_sitting = 3", [["A1", "A2", "A3"], ["A4"]]),
        ("max_sitting = 2", [["A1", "A2"], ["A3", "A4"]]),
        ("max_sitting = 1", [["A1"], ["A2"], ["A3"], ["A4"]]),
    ],
)
def test_a_conversation_takes_no_more_than_the_operator_wants(
    tmp_path: Path, more: str, expected: list[list[str]]
) -> None:
    ran_to_its_end(four_atoms(tmp_path, remembering(tmp_path, more=more)))
    assert sessions(tmp_path) == expected
    assert all((one.session is None) == (more == "max_sitting = 1") for one in told(tmp_path))


def test_the_limit_of_an_agent_comes_before_that_of_all(tmp_path: Path) -> None:
    ran_to_its_end(four_atoms(tmp_path, remembering(tmp_path) + "max_sitting = 2\n"))
    assert sessions(tmp_path) == [["A1", "A2"], ["A3", "A4"]]


def test_after_a_failure_there_is_a_new_conversation_also_for_who_failed(tmp_path: Path) -> None:
    orders = {"A2": [{"fail": "no idea"}, {}]}
    ran_to_its_end(four_atoms(tmp_path, remembering(tmp_path, orders)))
    assert sessions(tmp_path) == [["A1", "A2"], ["A3", "A4"], ["A2"]]


def test_after_a_result_that_fails_its_check_there_is_a_new_conversation(tmp_path: Path) -> None:
    check = AtomCheck(type="command", value="grep -q right A2.txt")
    atoms = [atom("A1"), atom("A2", check=check), atom("A3")]
    orders = {"A2": [{"write": {"A2.txt": "wrong"}}, {"write": {"A2.txt": "right"}}]}
    config = remembering(tmp_path, orders)
    ran_to_its_end(a_project(tmp_path, *atoms, base_case="test -f A2.txt", config=config, constraints=ONE_AT_A_TIME))
    assert sessions(tmp_path) == [["A1", "A2"], ["A3"], ["A2"]]


def test_after_a_change_of_what_is_protected_there_is_a_new_conversation(tmp_path: Path) -> None:
    orders = {"A2": [{"write": {"README.md": "mine\n"}}, {}]}
    project = four_atoms(tmp_path, remembering(tmp_path, orders), protect=("README.md",))
    ran_to_its_end(project)
    assert sessions(tmp_path) == [["A1", "A2"], ["A3", "A4"], ["A2"]]
    assert (project.root / "README.md").read_text() == "a project\n"


def test_an_atom_with_an_agent_of_its_own_has_a_conversation_of_its_own(tmp_path: Path) -> None:
    atoms = [atom("A1"), atom("A2", agent="claude"), atom("A3"), atom("A4", estimate=600.0)]
    config = remembering(tmp_path)
    ran_to_its_end(a_project(tmp_path, *atoms, base_case=ALL, config=config, constraints=ONE_AT_A_TIME))
    kept = {one.atom: one.session is not None for one in told(tmp_path)}
    assert kept == {"A1": True, "A2": False, "A3": True, "A4": False}
    assert ["A1", "A3"] in sessions(tmp_path)


def test_commands_in_between_do_not_end_a_conversation_and_what_they_changed_is_told(tmp_path: Path) -> None:
    atoms = [atom("A1"), atom("A2", "A1", run="echo by hand > A1.txt; echo x > A2.txt"), atom("A3", "A2")]
    project = a_project(
        tmp_path, *atoms, base_case="test -f A3.txt", config=remembering(tmp_path), constraints=ONE_AT_A_TIME
    )
    ran_to_its_end(project)
    assert sessions(tmp_path) == [["A1", "A3"]]
    prompt = next(project.root.glob(".aot/attempts/A3-*/prompt.md")).read_text()
    assert "> A1.txt\n> A2.txt\n" in prompt.partition("# The whole work")[0]


def test_a_start_that_nobody_measured_is_not_saved(tmp_path: Path) -> None:
    """It changes files by commands, of which the client does not tell that they change any."""
    orders = {name: [{"says_no_edit": True}] for name in NAMES}
    ran_to_its_end(four_atoms(tmp_path, remembering(tmp_path, orders)))
    assert [one.goes_on for one in told(tmp_path)] == [False] * 4


def test_a_conversation_that_the_client_does_not_know_is_replaced_and_no_attempt_is_counted(tmp_path: Path) -> None:
    orders = {"A2": [{"forgets": True}, {}]}
    project = four_atoms(tmp_path, remembering(tmp_path, orders))
    ran = ran_to_its_end(project)
    assert (tmp_path / "unknown").read_text() == "A2\n"
    assert sessions(tmp_path) == [["A1"], ["A2", "A3", "A4"]]
    assert [one["outcome"] for one in ran.kinds("attempt_ended")] == ["done"] * 4
    assert (project.loop.control.tried, project.loop.trail) == (4, [])
    assert project.loop.control.cost_usd == 1.0


def test_slots_do_not_share_conversations(tmp_path: Path) -> None:
    atoms = [atom(f"A{number}") for number in range(1, 9)]
    wait = {"after": str(tmp_path / "told.jsonl")}
    config = remembering(tmp_path, {one.id: [wait] for one in atoms})
    project = a_project(
        tmp_path, *atoms, base_case="test -f A8.txt", config=config, constraints=Constraints(max_parallel_agents=2)
    )
    ran_to_its_end(project)
    homes: dict[str, set[str]] = {}
    for one in told(tmp_path):
        assert one.session is not None
        homes.setdefault(one.session, set()).add(one.cwd)
    assert all(len(places) == 1 for places in homes.values())
    assert len(homes) < len(atoms)


def test_other_agents_begin_on_their_own(tmp_path: Path) -> None:
    """An agent that cannot go on does what it did before."""
    config = scripted(tmp_path, {"*": [done({"it": "is there"})]})
    atoms = [atom(name) for name in NAMES[:2]]
    ran_to_its_end(a_project(tmp_path, *atoms, base_case="test -f it", config=config, constraints=ONE_AT_A_TIME))


def test_without_worktrees_a_conversation_goes_on_too(tmp_path: Path) -> None:
    project = four_atoms(tmp_path, remembering(tmp_path, more='isolation = "none"'))
    ran_to_its_end(project)
    assert sessions(tmp_path) == [["A1", "A2", "A3", "A4"]]
    prompt = next(project.root.glob(".aot/attempts/A2-*/prompt.md")).read_text()
    assert "Read a file again before you rely" in prompt


def test_a_redirect_ends_every_conversation(tmp_path: Path) -> None:
    orders = {"A2": [{"hang": True}, {}]}
    project = four_atoms(tmp_path, remembering(tmp_path, orders))
    with project.running() as process:
        until(lambda: [one.atom for one in told(tmp_path)] == ["A1", "A2"])
        redirected = project.aot("redirect", "--set", "max_iterations=40", "--yes")
        assert redirected.code == 0, redirected.err
        assert process.wait(PATIENCE) == 0
    assert [one.goes_on for one in told(tmp_path)][:3] == [False, True, False]
    assert sessions(tmp_path)[0] == ["A1", "A2"]
    assert left_by_conversations(project.root) == []


def test_a_run_that_is_killed_in_mid_sitting_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    orders = {"A3": [{"hang": True}, {}]}
    project = four_atoms(tmp_path, remembering(tmp_path, orders))
    with project.running() as process:
        until(lambda: [one.atom for one in told(tmp_path)] == ["A1", "A2", "A3"])
        process.kill()
        process.wait()
    assert any(path.is_dir() for path in left_by_conversations(project.root))
    assert [*Path(os.environ["HOME"], ".claude").glob("projects/*/*.jsonl")]
    operators = Path(os.environ["HOME"], ".claude/projects/mine/00000000-0000-4000-8000-000000000000.jsonl")
    operators.parent.mkdir()
    operators.write_text("of the operator\n")
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert sessions(tmp_path)[0] == ["A1", "A2", "A3"]
    assert told(tmp_path)[3].goes_on is False
    assert sorted(project.subjects()) == [f"{name}: do {name}" for name in NAMES]
    assert project.loop.control.cost_usd == 1.0
    assert left_by_conversations(project.root) == [operators.parent]
    assert operators.read_text() == "of the operator\n"
    assert leftovers(project) == []


def test_what_a_killed_run_has_left_is_cleaned_away_without_another_run(tmp_path: Path) -> None:
    project = four_atoms(tmp_path, remembering(tmp_path, {"A2": [{"hang": True}]}))
    with project.running() as process:
        until(lambda: [one.atom for one in told(tmp_path)] == ["A1", "A2"])
        process.kill()
        process.wait()
    assert left_by_conversations(project.root)
    cleaned = project.aot("clean")
    assert cleaned.code == 0, cleaned.err
    assert (left_by_conversations(project.root), leftovers(project)) == ([], [])
