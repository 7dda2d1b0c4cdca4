"""Who is there when a run begins: found with their versions, warned about, or refused before anything is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.core.model import Constraints, OrGroup
from tests.loops import atom
from tests.runner.agents import done, scripted
from tests.runner.projects import Ran, a_project

THREE_WAYS = {"way": OrGroup(choices=("A1", "A2", "A3"), selected="A1")}


def warnings(ran: Ran) -> list[str]:
    return [one["text"] for one in ran.kinds("warning")]


def a_client(folder: Path, name: str, body: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_an_agent_is_found_and_what_it_lacks_for_this_loop_is_said_once(tmp_path: Path) -> None:
    config = scripted(tmp_path, {"*": [done({"a": "a"})]})
    project = a_project(
        tmp_path,
        *(atom(f"A{one}", or_group="way", probe=one == 3) for one in (1, 2, 3)),
        config=config,
        base_case="test -f a",
        constraints=Constraints(max_cost_usd=5.0),
        or_groups=THREE_WAYS,
    )
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    (found,) = ran.kinds("agent_found")
    assert (found["agent"], found["backend"], found["version"], found["problem"]) == ("scripted", "command", None, None)
    assert found["program"]
    said = warnings(ran)
    assert len([one for one in said if "the limit of $5.00 is only as exact" in one]) == 1
    assert len([one for one in said if "cannot be kept from writing" in one]) == 1
    assert len([one for one in said if "asked for its answer in words" in one]) == 1
    assert {"agent_found", "warning"} <= {one["kind"] for one in project.news()}, "the journal has it, too"


def test_what_does_not_matter_to_a_loop_is_not_said(tmp_path: Path) -> None:
    project = a_project(
        tmp_path, atom("A1"), config=scripted(tmp_path, {"*": [done({"a": "a"})]}), base_case="test -f a"
    )
    said = warnings(project.run())
    assert not [one for one in said if "money" in one or "writing" in one]


def test_a_loop_of_commands_alone_calls_for_nobody(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    ran = project.run()
    assert ran.code == 0
    assert ran.kinds("agent_found") == ran.kinds("warning") == []


def test_versions_of_clients_are_noted_and_old_ones_and_missing_logins_told(tmp_path: Path) -> None:
    program = a_client(tmp_path / "bin", "codex", '[ "$1" = --version ] && echo codex-cli 0.12.0')
    config = f'agent = "coder"\n[agents.coder]\nkind = "codex"\nprogram = "{program}"\n'
    without = dict.fromkeys(("OPENAI_API_KEY", "CODEX_API_KEY"), "")
    project = a_project(tmp_path, atom("A1"), base_case="true", config=config, environ=without)
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    (found,) = ran.kinds("agent_found")
    assert (found["agent"], found["backend"], found["version"]) == ("coder", "codex", "0.12.0")
    said = warnings(ran)
    assert "coder 0.12.0 is older than what was tested (0.166)" in said
    assert [one for one in said if one.startswith("coder seems not to be logged in")]


def test_a_limit_that_cannot_hold_is_told_also_if_it_is_of_this_run_alone(tmp_path: Path) -> None:
    program = a_client(tmp_path / "bin", "codex", "echo 0.166.0")
    config = f'agent = "coder"\n[agents.coder]\nkind = "codex"\nprogram = "{program}"\n'
    for folder, flags in (("without", ()), ("with", ("--max-cost", "2"))):
        (tmp_path / folder).mkdir()
        project = a_project(tmp_path / folder, atom("A1"), base_case="true", config=config)
        said = warnings(project.run(*flags))
        assert len([one for one in said if "the limit of $2.00 cannot be kept" in one]) == bool(flags)


@pytest.mark.parametrize("of_the_atom", [True, False])
def test_a_program_that_is_not_there_is_refused_before_anything_is_done(tmp_path: Path, of_the_atom: bool) -> None:
    config = '[agents.ghost]\nkind = "codex"\nprogram = "/nowhere/codex"\n'
    if not of_the_atom:
        config = f'agent = "ghost"\n{config}'
    work = atom("A1", agent="ghost") if of_the_atom else atom("A1")
    project = a_project(tmp_path, work, atom("A2", run="echo b > b"), base_case="false", config=config)
    before = project.state_file.read_bytes()
    ran = project.run()
    assert ran.code == 1
    assert "the agent ghost cannot be started: there is no program /nowhere/codex" in ran.err
    assert "npm install -g @openai/codex" in ran.err
    assert project.state_file.read_bytes() == before
    assert not (project.root / ".aot").exists()


def test_one_that_only_repairs_could_need_is_no_reason_not_to_begin(tmp_path: Path) -> None:
    config = 'agent = "ghost"\n[agents.ghost]\nargv = ["/nowhere/ghost", "{prompt}"]\n'
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a", config=config)
    ran = project.run()
    assert ran.code == 0
    assert [one for one in warnings(ran) if one.startswith("ghost cannot be used: there is no program /nowhere/ghost")]


def test_one_in_whose_place_another_is_asked_is_no_reason_not_to_begin(tmp_path: Path) -> None:
    able = scripted(tmp_path, {"*": [done({"a": "a"})]}).partition("\n")[2]
    config = (
        f'agent = "ghost"\nfallback = ["scripted"]\n{able}[agents.ghost]\nargv = ["/nowhere/ghost", "{{prompt}}"]\n'
    )
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert {one["agent"] for one in ran.kinds("agent_found")} == {"ghost", "scripted"}
