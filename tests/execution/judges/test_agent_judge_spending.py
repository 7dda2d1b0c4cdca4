"""To judge costs something: it is counted with everything else, and not done when the money is used up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aotloop.core.model import AtomCheck, Constraints
from tests.execution.judges.jurors import command, judged, quality, scores, warnings
from tests.loops import atom
from tests.runner.agents import Order, done, scripted, times_asked
from tests.runner.projects import Project, a_project

ITEM = "It reads well"


def costing(order: Order, usd: float) -> Order:
    usage = {"cost_usd": usd, "input": 100, "output": 20, "cache_read": 0, "cache_write": 0, "turns": 2}
    return {**order, "answer": {**order["answer"], "usage": usage}}


def project_with(folder: Path, **more: Any) -> Project:
    config = scripted(folder, {"A1": [costing(done({"a.txt": "a\n"}), 1.5)], ITEM: [costing(scores(clarity=4), 0.25)]})
    items = judged(command("a", "test -f a.txt"), quality(ITEM, clarity=1))
    return a_project(folder, atom("A1"), base_case=items, config=config, **more)


def test_what_a_judgement_cost_is_counted_with_the_attempts(tmp_path: Path) -> None:
    project = project_with(tmp_path)
    assert project.run().code == 0
    control = project.loop.control
    assert (control.cost_usd, control.used.input, control.used.turns) == (1.75, 200, 4)


def test_what_a_verification_cost_is_told_and_counted(tmp_path: Path) -> None:
    project = project_with(tmp_path)
    (project.root / "a.txt").write_text("a\n")
    ran = project.aot("verify", "--judge", "--yes")
    assert ran.code == 0, ran.err
    assert "judging took $0.25, 120 tokens, 2 turns" in ran.err
    assert project.loop.control.cost_usd == 0.25


def test_nobody_is_asked_when_the_money_is_used_up(tmp_path: Path) -> None:
    project = project_with(tmp_path, constraints=Constraints(max_cost_usd=1))
    assert project.run().code != 0
    assert times_asked(tmp_path, ITEM) == 0
    assert f"undecided: {ITEM}: not judged: there is no money left for it" in warnings(project)


def test_a_judge_is_not_allotted_what_another_attempt_has_reserved(tmp_path: Path) -> None:
    asked, told = tmp_path / "asked", tmp_path / "told"
    judge = {**scores(clarity=4), "run": f'echo "$AOT_MAX_COST_USD" >> {told}; touch {asked}'}
    orders = {"A1": [costing(done({"a.txt": "a\n"}), 1.5)], "A2": [done({"b.txt": "b\n"}, after=str(asked))]}
    project = a_project(
        tmp_path,
        atom("A1", check=AtomCheck(group=(quality(ITEM, clarity=1),))),
        atom("A2"),
        base_case="test -f a.txt",
        config=scripted(tmp_path, {**orders, ITEM: [judge]}),
        constraints=Constraints(max_cost_usd=9, max_parallel_agents=2),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    first = float(told.read_text().splitlines()[0])
    assert first == 1.5  # half of what is left when A1 has cost 1.5, and A2 has reserved 4.5
