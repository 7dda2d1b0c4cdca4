"""Whole loops with the real clients: what they cost is what the model's server counted, and trouble leads to others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aotloop.core.model import Constraints, Used
from tests.loops import atom
from tests.modelserver import Answer, Call, ModelServer, Script, Usage, errors, stalled
from tests.modelserver.clients import CLIENTS, needs, needs_claude
from tests.modelserver.operators import DONE, config_of, each_client, environ_of, most_clients, shell
from tests.patience import PATIENCE
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

FAILED = Answer({**DONE.value, "success": False, "reason": "not today"})

PRICES = {
    "claude": "",
    "codex": "price = {input = 1, cache_read = 2, cache_write = 3, output = 4}\n",
    "opencode": "price = {input = 1, cache_read = 2, cache_write = 3, output = 4}\n",
}


def counted(server: ModelServer) -> Usage:
    return sum(server.usage.values(), Usage(input=0, output=0))


def tokens(used: Used) -> Usage:
    return Usage(input=used.input, output=used.output, cache_read=used.cache_read, cache_write=used.cache_write)


def outcomes(project: Project) -> list[tuple[str, str]]:
    began = {one["attempt"]: one["agent"] for one in project.news() if one["kind"] == "attempt_began"}
    return [(began[one["attempt"]], one["outcome"]) for one in project.news() if one["kind"] == "attempt_ended"]


@each_client
def test_what_a_loop_cost_is_what_the_server_counted(tmp_path: Path, client: str) -> None:
    """One attempt fails, two succeed, and each asks the model several times."""
    thrifty, lavish = Usage(input=100, output=20, cache_read=7), Usage(input=1000, output=300)
    scripts = [
        Script("atom A1", [shell(client, "echo a > a"), replace(DONE, usage=lavish)]),
        Script("atom A2", [replace(FAILED, usage=thrifty)], plays=1),
        Script("atom A2", [shell(client, "echo b > b"), replace(DONE, usage=thrifty)]),
    ]
    with ModelServer(scripts) as server:
        project = a_project(
            tmp_path,
            atom("A1"),
            atom("A2", "A1"),
            base_case="test -f b",
            config=config_of(client, PRICES[client]),
            environ=environ_of(client, server),
        )
        ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert [outcome for _, outcome in outcomes(project)] == ["done", "failed", "done"]
    control, count = project.loop.control, counted(server)
    assert tokens(control.used) == count
    each = [Used(**one["used"]) for one in project.news() if one["kind"] == "attempt_ended"]
    assert sum((tokens(one) for one in each), Usage(input=0, output=0)) == count
    if client == "claude":
        assert control.cost_usd > 0
        assert control.used.turns >= len(server.played) - 1
    else:
        price = count.input + 2 * count.cache_read + 3 * count.cache_write + 4 * count.output
        assert control.cost_usd == pytest.approx(price / 1_000_000)


@needs(*CLIENTS)
def test_a_loop_goes_on_with_others_when_one_has_to_wait_and_one_has_no_credit(tmp_path: Path) -> None:
    scripts = [
        Script(lambda one: one.api == "messages", [errors.subscription_used_up(7200)] * 9),
        Script(lambda one: one.api == "responses", [errors.no_quota()] * 9),
        Script("atom A1", [shell("opencode", "echo a > a"), DONE]),
    ]
    tables = "".join(config_of(client).split("\n", 1)[1] for client in CLIENTS)
    with ModelServer(scripts) as server:
        environ = {key: value for client in CLIENTS for key, value in environ_of(client, server).items()}
        project = a_project(
            tmp_path,
            atom("A1"),
            base_case="test -f a",
            config=f'agent = "claude"\nfallback = ["codex", "opencode"]\npatience = "1s"\n{tables}',
            environ=environ,
        )
        ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    expected = [("claude", "must_wait"), ("codex", "must_wait"), ("opencode", "done")]
    assert outcomes(project) == expected
    assert (project.loop.trail, leftovers(project)) == ([], [])
    asked = {one.exchange.api for one in server.played}
    assert asked == {"messages", "responses", "chat"}


@needs_claude
def test_claude_stops_at_its_share_of_the_budget(tmp_path: Path) -> None:
    costly = Usage(input=200_000, output=100_000)
    turns = [Call(*shell("claude", "echo x >> x").calls, usage=costly)] * 20
    with ModelServer([Script("atom A1", turns)]) as server:
        project = a_project(
            tmp_path,
            atom("A1"),
            base_case="false",
            config=config_of("claude"),
            environ=environ_of("claude", server),
            constraints=Constraints(max_cost_usd=3.0, max_attempts=1),
        )
        ran = project.run()
    assert ran.code in {4, 5}, ran.out + ran.err
    (ended,) = [one for one in project.news() if one["kind"] == "attempt_ended"]
    assert "may cost" in ended["summary"]
    assert len(server.played) < len(turns)
    assert project.loop.control.cost_usd == ended["cost_usd"] > 3.0


@most_clients
def test_a_redirect_in_the_middle_of_a_reply_ends_it_and_the_loop_goes_on(tmp_path: Path, client: str) -> None:
    scripts = [
        Script("atom A1", [replace(DONE, delivery=stalled())], plays=1),
        Script("atom A1", [shell(client, "echo a > a"), DONE]),
    ]
    with ModelServer(scripts) as server:
        project = a_project(
            tmp_path,
            atom("A1"),
            base_case="test -f a",
            config=config_of(client),
            environ=environ_of(client, server),
        )
        with project.running() as process:
            assert server.wait_for(1)
            redirected = project.aot("redirect", "--set", "max_iterations=40", "--yes")
            assert redirected.code == 0, redirected.err
            assert process.wait(PATIENCE) == 0
    assert [outcome for _, outcome in outcomes(project)] == ["cancelled", "done"]
    assert (project.atom("A1").attempts, project.loop.control.epoch) == (0, 1)
    assert leftovers(project) == []
