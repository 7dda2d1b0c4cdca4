"""What is asserted is looked at by an agent, and then by a person, always."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.terminal import terminal
from tests.execution.judges.jurors import assertion, command, finds_not_so, finds_so, judged, quality, scores, warnings
from tests.loops import atom
from tests.runner.agents import Order, done, scripted, times_asked
from tests.runner.projects import Project, a_project

NICE = "It is nice"
GOOD = "It reads well"


def project_with(folder: Path, *orders: Order, **more: list[Order]) -> Project:
    config = scripted(folder, {"A1": [done({"a.txt": "a\n"})], NICE: list(orders), GOOD: [scores(clarity=4)], **more})
    items = judged(command("a", "test -f a.txt"), assertion(NICE, "the page is nice"), quality(GOOD, clarity=1))
    return a_project(folder, atom("A1"), base_case=items, config=config)


def test_what_an_agent_finds_so_waits_for_a_person_and_then_the_loop_is_completed(tmp_path: Path) -> None:
    project = project_with(tmp_path, finds_so("I opened the page"))
    assert project.run().code == 6
    said = "an agent says yes: I opened the page; waits for a person's confirmation"
    assert f"undecided: {NICE}: {said}" in warnings(project)
    assert project.aot("confirm", NICE, "--yes").code == 0
    assert project.loop.control.status == "completed"
    assert (times_asked(tmp_path, NICE), times_asked(tmp_path, GOOD)) == (1, 1)  # what was judged is known to `confirm`


def test_who_confirms_is_shown_what_the_agent_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_with(tmp_path, finds_so("I opened the page"))
    assert project.run().code == 6
    monkeypatch.chdir(project.root)
    with terminal("confirm") as screen:
        screen.wait_for("Is this true? [y/n, Enter: skip] ")
        assert "the page is nice\n  an agent says yes: I opened the page" in screen.text
        screen.type("y\n")
        assert screen.end() == 0
    assert project.loop.control.status == "completed"


def test_what_an_agent_finds_not_so_is_mended(tmp_path: Path) -> None:
    mended = [done({"b.txt": "b\n"})]
    project = project_with(tmp_path, finds_not_so("the colours are ugly"), finds_so(), A2=mended)
    assert project.run().code == 6
    assert "an agent says no: the colours are ugly" in project.atom("A2").description
    assert project.statuses() == {"A1": "resolved", "A2": "resolved"}
    assert times_asked(tmp_path, NICE) == 2


# --- aot verify ----------------------------------------------------------------------------------------------------


def test_verify_asks_nobody_unless_it_is_told_to(tmp_path: Path) -> None:
    project = project_with(tmp_path, finds_so())
    (project.root / "a.txt").write_text("a\n")
    before = project.aot("verify", "--yes")
    assert before.code == 6
    assert "needs a judge; `aot verify --judge` asks an agent" in before.out
    assert (times_asked(tmp_path, NICE), times_asked(tmp_path, GOOD)) == (0, 0)
    asked = project.aot("verify", "--judge", "--yes", "--json")
    assert asked.code == 6
    found = {one["item"]: one for one in json.loads(asked.out)["checklist"]}
    assert found[GOOD]["scores"] == {"clarity": 4.0}
    assert found[NICE]["evidence"].startswith("an agent says yes: ")
    after = project.aot("verify")
    assert "(judged at " in after.out
    assert (times_asked(tmp_path, NICE), times_asked(tmp_path, GOOD)) == (1, 1)
    assert project.worktrees() == []


def test_the_gate_asks_nobody(tmp_path: Path) -> None:
    project = project_with(tmp_path, finds_so())
    (project.root / "a.txt").write_text("a\n")
    assert project.aot("gate", "--yes").code == 0
    assert (times_asked(tmp_path, NICE), times_asked(tmp_path, GOOD)) == (0, 0)


def test_verify_says_who_could_be_asked_where_nobody_is_configured(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"), base_case=judged(quality(GOOD, clarity=1)))
    ran = project.aot("verify", "--judge", "--yes")
    assert ran.code == 1
    assert "no agent is configured to judge" in ran.err
    assert "[roles.judge]" in ran.err


def test_an_attempt_has_nothing_judged(tmp_path: Path) -> None:
    """Neither by accepting commands for itself, nor where a person has accepted them."""
    project = project_with(tmp_path, finds_so())
    project.environ["AOT_RUN_ID"] = "some-run"
    ran = project.aot("verify", "--judge", "--yes")
    assert (ran.code, times_asked(tmp_path, GOOD)) == (1, 0)
    assert "only a person accepts commands" in ran.err
    del project.environ["AOT_RUN_ID"]
    project.aot("verify", "--yes")
    project.environ["AOT_RUN_ID"] = "some-run"
    ran = project.aot("verify", "--judge", "--yes")
    assert (ran.code, times_asked(tmp_path, GOOD)) == (1, 0)
    assert "only a person can request judgements" in ran.err


def test_a_program_of_the_repository_is_not_run_as_judge_before_it_is_accepted(tmp_path: Path) -> None:
    project = project_with(tmp_path, finds_so())
    ran = project.aot("verify", "--judge")
    assert ran.code != 0
    assert times_asked(tmp_path, GOOD) == 0
