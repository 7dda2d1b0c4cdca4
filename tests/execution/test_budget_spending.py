"""What attempts cost and used is counted once, bounds the run, and outlives it."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from aotloop.core.model import Constraints, Used
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.agents import ANYBODY, Order, done, fails, scripted, times_asked
from tests.runner.projects import Project, a_project

USAGE = {"cost_usd": 1.5, "input": 1000, "output": 200, "cache_read": 30, "cache_write": 4, "turns": 5}


def costing(order: Order, **usage: Any) -> Order:
    return {**order, "answer": {**order["answer"], "usage": {**USAGE, **usage}}}


def spent(project: Project) -> tuple[float, Used]:
    return project.loop.control.cost_usd, project.loop.control.used


def test_cost_tokens_and_turns_are_in_the_state_the_journal_and_the_status(tmp_path: Path) -> None:
    orders = {"A1": [costing(fails("not yet")), costing(done({"a": "a"}))], "A2": [costing(done({"b": "b"}))]}
    project = a_project(
        tmp_path, atom("A1"), atom("A2", "A1"), base_case="test -f b", config=scripted(tmp_path, orders)
    )
    ran = project.run()
    assert ran.code == 0, ran.err
    assert spent(project) == (4.5, Used(input=3000, output=600, cache_read=90, cache_write=12, turns=15))
    ended = [one for one in project.news() if one["kind"] == "attempt_ended"]
    assert [(one["cost_usd"], one["used"]["turns"]) for one in ended] == [(1.5, 5)] * 3
    assert project.news()[-1]["used"]["input"] == 3000
    assert "$4.50 · 3.7k tokens · 15 turns" in project.aot("status").out
    assert json.loads(project.aot("status", "--json").out)["control"]["used"]["output"] == 600


def test_no_attempt_starts_once_the_limit_is_reached(tmp_path: Path) -> None:
    atoms = [atom("A1"), *(atom(f"A{number}", f"A{number - 1}") for number in range(2, 6))]
    orders = {ANYBODY: [costing(done())]}
    project = a_project(
        tmp_path, *atoms, base_case="false", config=scripted(tmp_path, orders), constraints=Constraints(max_cost_usd=4)
    )
    ran = project.run()
    assert ran.code == 5
    assert project.loop.control.stop_reason == "limit: it cost $4.50 of the $4.00 allowed"
    assert [times_asked(tmp_path, one.id) for one in atoms] == [1, 1, 1, 0, 0]


def test_what_was_spent_survives_and_a_higher_limit_lets_it_go_on(tmp_path: Path) -> None:
    orders = {ANYBODY: [costing(done())]}
    project = a_project(
        tmp_path,
        atom("A1"),
        atom("A2", "A1"),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_cost_usd=1),
    )
    assert project.run().code == 5
    assert project.run().code == 5
    assert times_asked(tmp_path, "A2") == 0
    redirected = project.aot("redirect", "--set", "max_cost_usd=10", "--yes")
    assert redirected.code == 0, redirected.err
    assert project.run().code == 5
    assert times_asked(tmp_path, "A2") == 1
    assert project.loop.control.stop_reason == "limit: it cost $10.50 of the $10.00 allowed"  # repairs cost, too


def test_attempts_are_told_their_share(tmp_path: Path) -> None:
    orders = {ANYBODY: [done(run='echo "$AOT_MAX_COST_USD" > "$AOT_ATOM_ID"')]}
    project = a_project(
        tmp_path,
        *(atom(f"A{number}") for number in (1, 2, 3)),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_cost_usd=9, max_parallel_agents=3),
    )
    project.run()
    assert [(project.root / f"A{number}").read_text() for number in (1, 2, 3)] == ["3.0000\n"] * 3


def test_one_attempt_may_have_a_limit_of_its_own(tmp_path: Path) -> None:
    orders = {ANYBODY: [done(run='echo "$AOT_MAX_COST_USD" > told')]}
    config = scripted(tmp_path, orders, "max_attempt_cost_usd = 0.25")
    project = a_project(tmp_path, atom("A1"), base_case="test -f told", config=config)
    assert project.run().code == 0
    assert (project.root / "told").read_text() == "0.2500\n"


def test_commands_take_no_share(tmp_path: Path) -> None:
    orders = {ANYBODY: [done(run='echo "$AOT_MAX_COST_USD" > told')]}
    project = a_project(
        tmp_path,
        atom("A1", run="true"),
        atom("A2", run="true"),
        atom("A3"),
        base_case="test -f told",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_cost_usd=9),
    )
    assert project.run().code == 0
    assert (project.root / "told").read_text() == "9.0000\n"


def test_tokens_have_a_price_if_a_person_says_so(tmp_path: Path) -> None:
    orders = {ANYBODY: [costing(done({"a": "a"}), cost_usd=None)]}
    config = scripted(tmp_path, orders) + "price = {input = 1000, output = 5000, cache_read = 100}\n"
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    assert project.run().code == 0
    assert project.loop.control.cost_usd == pytest.approx(1000 * 0.001 + 200 * 0.005 + 30 * 0.0001)


def test_a_killed_run_pays_once(tmp_path: Path) -> None:
    """The result is there, and what it cost; whoever goes on knows both."""
    orders = {"A1": [costing(done({"a": "a"}))], "A2": [done(hang=True, touch=str(tmp_path / "begun"))]}
    project = a_project(
        tmp_path, atom("A1"), atom("A2", "A1"), base_case="test -f a", config=scripted(tmp_path, orders)
    )
    with project.running() as process:
        until((tmp_path / "begun").exists)
        process.kill()
        process.wait()
    project.edit(lambda loop: loop.atoms.pop())
    assert project.run().code == 0
    assert (times_asked(tmp_path, "A1"), project.loop.control.cost_usd) == (1, 1.5)


@pytest.mark.parametrize("usage", [{"cost_usd": -3}, {"cost_usd": "much"}, {"input": -1}, {"turns": 1.5}])
def test_what_makes_no_sense_is_left_out_and_the_work_is_kept(tmp_path: Path, usage: dict[str, Any]) -> None:
    orders = {ANYBODY: [costing(done({"a": "a"}), **usage)]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    assert project.run().code == 0
    assert spent(project) == (0.0, Used())
    assert "was left out" in str(project.news())


_CLIENT = """#!/bin/sh
case "$*" in *--version*) echo "2.1.300 (Claude Code)"; exit;; esac
echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-sonnet-4-5","claude_code_version":"2.1.300"}'
echo '{"type":"stream_event","session_id":"s","event":{"message":{"usage":{"input_tokens":100000,"output_tokens":1}}}}'
echo '{"type":"stream_event","session_id":"s","event":{"type":"message_delta","usage":{"output_tokens":20000}}}'
echo "$AOT_ATTEMPT" >> "$TOLD"
exec sleep 1000
"""
"""It answers for 0.60 USD by the list price of its model, and is then silent."""


def test_what_stopped_attempts_cost_is_in_the_state_and_the_journal(tmp_path: Path) -> None:
    client, told = tmp_path / "claude", tmp_path / "told"
    client.write_text(_CLIENT)
    client.chmod(0o755)
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="false",
        config=f'agent = "claude"\n[agents.claude]\nprogram = "{client}"\npass_env = ["TOLD"]\n',
        constraints=Constraints(max_cost_usd=1.5),
        environ={"TOLD": str(told), "ANTHROPIC_API_KEY": "none"},
    )
    for cycle in (1, 2, 3):
        told.unlink(missing_ok=True)
        with project.running() as process:
            until(told.exists, "no attempt was begun")
            assert project.aot("stop").code == 0
            assert process.wait(PATIENCE) == 7
        assert project.loop.control.cost_usd == pytest.approx(0.6 * cycle)
        assert project.loop.control.used == Used(input=100_000 * cycle, output=20_000 * cycle)
    ended = [one for one in project.news() if one["kind"] == "attempt_ended"]
    assert [one["cost_usd"] for one in ended] == [pytest.approx(0.6)] * 3
    assert all(one["seconds"] > 0 for one in ended)
    assert project.run().code == 5, "the limit is reached by attempts that were stopped"


def test_with_a_limit_of_money_a_client_that_tells_none_needs_a_price(tmp_path: Path) -> None:
    client, told = tmp_path / "codex", tmp_path / "told"
    client.write_text(f'#!/bin/sh\ncase "$*" in *--version*) echo 0.166.0; exit;; esac\ntouch {told}\n')
    client.chmod(0o755)
    config = f'agent = "codex"\n[agents.codex]\nprogram = "{client}"\n'
    project = a_project(tmp_path, atom("A1"), base_case="false", config=config, constraints=Constraints(max_cost_usd=1))
    ran = project.run()
    assert ran.code == 6, ran.out
    assert "price" in (project.loop.control.stop_reason or "")
    assert not told.exists(), "it was not started"


def test_with_a_limit_of_money_a_model_elsewhere_needs_a_price(tmp_path: Path) -> None:
    config = 'agent = "far"\n[agents.far]\nkind = "openai"\nbase_url = "http://0.0.0.0:9/v1"\n'
    project = a_project(tmp_path, atom("A1"), base_case="false", config=config, constraints=Constraints(max_cost_usd=1))
    assert project.run().code == 6
    assert "price" in (project.loop.control.stop_reason or "")


def hanging(tmp_path: Path, **order: Any) -> Project:
    """An agent that tells its bill, and then does not end."""
    said = {**costing(done(), cost_usd=2.5), "hang": True, **order}
    return a_project(
        tmp_path,
        atom("A1", timeout="3s" if order else None),
        base_case="test -f a",
        config=scripted(tmp_path, {"A1": [said, costing(done({"a": "a"}), cost_usd=0.5)]}),
        constraints=Constraints(max_cost_usd=9),
    )


def is_billed(project: Project) -> bool:
    return (project.root / ".aot/attempts/A1-1/meter.json").exists()


def test_a_bill_that_was_told_before_a_stop_counts(tmp_path: Path) -> None:
    project = hanging(tmp_path)
    with project.running() as process:
        until(lambda: is_billed(project))
        project.aot("stop")
        process.communicate(timeout=PATIENCE)
    assert spent(project)[0] == 2.5


def test_a_bill_that_was_told_before_a_redirect_counts(tmp_path: Path) -> None:
    project = hanging(tmp_path)
    with project.running() as process:
        until(lambda: is_billed(project))
        assert project.aot("redirect", "--set", "max_iterations=40", "--yes").code == 0
        assert process.wait(PATIENCE) == 0
    assert spent(project)[0] == 3.0


def test_a_bill_that_was_told_before_the_run_was_killed_counts_once(tmp_path: Path) -> None:
    project = hanging(tmp_path)
    with project.running() as process:
        until(lambda: is_billed(project))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
    assert spent(project)[0] == 0.0
    ran = project.run()
    assert ran.code == 0, ran.out
    assert spent(project)[0] == 3.0
    assert project.run().code == 0
    assert spent(project)[0] == 3.0


@pytest.mark.parametrize("order", [{"hang": True, "atom": "late"}, {"hang": False, "exit": 75}])
def test_a_bill_that_was_told_before_the_time_was_up_or_a_wait_counts(tmp_path: Path, order: dict[str, Any]) -> None:
    project = hanging(tmp_path, **order)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert spent(project)[0] == 3.0
