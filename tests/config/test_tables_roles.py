"""Roles and chains: who is asked for what, with which model, and who in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.errors import AotError
from tests.config.writing import loaded

BOTH = """
agent = "claude"
fallback = ["codex", "claude"]
[timeouts]
total = "2h"
[roles.probe]
model = "haiku"
timeouts = {total = "10m"}
[roles.judge]
agent = "codex"
votes = 3
[agents.codex]
fallback = []
price = {input = 1, output = 10}
"""


def test_a_role_has_an_agent_a_model_and_limits_of_its_own(project: Path) -> None:
    config = loaded(project, BOTH)
    assert [config.agent_of(role) for role in ("worker", "probe", "judge")] == ["claude", "claude", "codex"]
    _, settings, limits = config.agent_settings("claude", "probe")
    assert (settings.model, limits.total) == ("haiku", 600)
    _, settings, limits = config.agent_settings("claude", "worker")
    assert (settings.model, limits.total) == (None, 7200)
    assert (config.role("judge").votes, config.role("worker").votes) == (3, 1)


def test_the_model_of_a_role_is_that_of_its_agent_and_of_nobody_who_stands_in(project: Path) -> None:
    _, settings, limits = loaded(project, BOTH).agent_settings("codex", "probe")
    assert (settings.model, limits.total) == (None, 600)


def test_a_chain_begins_with_the_agent_and_names_nobody_twice(project: Path) -> None:
    config = loaded(project, BOTH)
    assert config.chain("claude") == ("claude", "codex")
    assert config.chain("opencode") == ("opencode", "codex", "claude")
    assert config.chain("codex") == ("codex",)


def test_prices_are_of_agents(project: Path) -> None:
    config = loaded(project, BOTH)
    price = config.price_of("codex")
    assert price is not None
    assert (price.input, price.output, price.cache_read) == (1.0, 10.0, 0.0)
    assert config.price_of("claude") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[roles.juge]\nvotes = 3", "roles.juge: there is no such key"),
        ("[roles.worker]\nvotes = 3", "roles.worker.votes: there is no such key"),
        ("[roles.judge]\nvotes = 2", "roles.judge.votes: must be odd"),
        ("[roles.judge]\nvotes = 11", "roles.judge.votes: must be odd"),
        ("[roles.judge]\nvotes = true", "roles.judge.votes: must be a whole number"),
        ("max_attempt_cost_usd = 0", "max_attempt_cost_usd: must be more than 0"),
        ("max_attempt_cost_usd = -1", "max_attempt_cost_usd: this number is no amount of money"),
        ("max_attempt_cost_usd = inf", "max_attempt_cost_usd: this number is no amount of money"),
        ('max_attempt_cost_usd = "5"', "max_attempt_cost_usd: must be an amount of money in USD, and is text"),
        ("max_sitting = 0", "max_sitting: must be 1 or more"),
        ("max_sitting = true", "max_sitting: must be a whole number"),
        ('[agents.claude]\nmax_sitting = "8"', "agents.claude.max_sitting: must be a whole number"),
        ("[agents.codex.price]\ninputs = 1", "agents.codex.price.inputs: there is no such key"),
        ('fallback = "codex"', "fallback: must be a list"),
    ],
)
def test_mistakes_are_named_with_their_place(project: Path, text: str, said: str) -> None:
    with pytest.raises(AotError) as caught:
        loaded(project, text)
    assert said in caught.value.message


def test_an_agent_may_sit_longer_or_shorter_than_others(project: Path) -> None:
    assert loaded(project, "").sitting_of("claude") == 8
    config = loaded(project, "max_sitting = 3\n[agents.claude]\nmax_sitting = 1\n[agents.codex]\n")
    assert [config.sitting_of(name) for name in ("claude", "codex", "opencode")] == [1, 3, 3]
