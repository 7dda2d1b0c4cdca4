"""What Claude Code is told at its start, and what it sees of our environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.claude.command_line import arguments, surroundings
from aotloop.agents.roles import ROLES, Role
from aotloop.process.spec import Limits
from tests.agents.assignments import an_assignment

LOGIN = {"ANTHROPIC_API_KEY": "key", "CLAUDE_CONFIG_DIR": "/config", "ANTHROPIC_BASE_URL": "http://gateway"}
AWS = {"AWS_PROFILE": "work", "AWS_SECRET_ACCESS_KEY": "secret"}


def seen(folder: Path, ours: dict[str, str], *pass_env: str, **more: Any) -> dict[str, str]:
    return surroundings(an_assignment(folder, **more), ours, pass_env, retries=4)


def values(options: tuple[str, ...], name: str) -> list[str]:
    return [options[at + 1] for at, option in enumerate(options) if option == name]


def test_the_login_is_passed_on_and_other_secrets_are_not(tmp_path: Path) -> None:
    env = seen(tmp_path, {**LOGIN, **AWS, "OPENAI_API_KEY": "other", "GITHUB_TOKEN": "other"})
    assert LOGIN.items() <= env.items()
    assert {"OPENAI_API_KEY", "GITHUB_TOKEN", *AWS}.isdisjoint(env)
    assert env["HOME"]


@pytest.mark.parametrize(("switch", "is_on"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_the_keys_of_a_cloud_are_passed_on_only_where_it_is_switched_on(
    tmp_path: Path, switch: str, *, is_on: bool
) -> None:
    env = seen(tmp_path, {**AWS, "GOOGLE_APPLICATION_CREDENTIALS": "file", "CLAUDE_CODE_USE_BEDROCK": switch})
    assert (AWS.items() <= env.items()) == is_on
    assert "GOOGLE_APPLICATION_CREDENTIALS" not in env


def test_what_the_operator_passes_on_counts_more_than_what_we_would_set(tmp_path: Path) -> None:
    env = seen(tmp_path, {"CLAUDE_CODE_MAX_RETRIES": "9", "API_TIMEOUT_MS": "1"}, "CLAUDE_CODE_MAX_RETRIES")
    assert (env["CLAUDE_CODE_MAX_RETRIES"], env["API_TIMEOUT_MS"]) == ("9", "300000")


@pytest.mark.parametrize(
    ("inactivity", "patience"), [(None, "300000"), (1800.0, "300000"), (90.0, "30000"), (6.0, "10000")]
)
def test_the_client_may_ask_again_before_we_lose_patience(
    tmp_path: Path, inactivity: float | None, patience: str
) -> None:
    env = seen(tmp_path, {}, limits=Limits(inactivity=inactivity))
    assert env["API_TIMEOUT_MS"] == env["CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS"] == patience


def test_schema_model_and_budget_are_options_and_the_prompt_is_none(tmp_path: Path) -> None:
    assignment = an_assignment(tmp_path, prompt="words", max_cost_usd=0.25)
    options = arguments(assignment, "opus")
    assert json.loads(values(options, "--json-schema")[0]) == assignment.result_schema
    assert (values(options, "--model"), values(options, "--max-budget-usd")) == (["opus"], ["0.25"])
    assert "words" not in options
    plain = arguments(an_assignment(tmp_path, result_schema={}), None)
    assert {"--json-schema", "--model", "--max-budget-usd"}.isdisjoint(plain)


def test_instructions_above_the_repository_are_excluded_and_those_within_are_not(tmp_path: Path) -> None:
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    below = tmp_path / "tree" / "a" / "b"
    below.mkdir(parents=True)
    (settings,) = values(arguments(an_assignment(tmp_path, cwd=below), None), "--settings")
    excluded = json.loads(settings)["claudeMdExcludes"]
    assert {f"{tmp_path}/CLAUDE.md", f"{tmp_path}/.claude/CLAUDE.md", "/CLAUDE.md"} <= set(excluded)
    assert not any(f"{tmp_path}/tree" in one for one in excluded)


@pytest.mark.parametrize("role", ROLES)
def test_everybody_gets_the_folders_of_the_repository_for_their_instructions_and_no_settings(
    tmp_path: Path, role: Role
) -> None:
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / "part").mkdir()
    (tree / "AGENTS.md").touch()
    assignment = an_assignment(tmp_path, cwd=tree / "part", role=role)
    lent = str(assignment.scratch / "instructions")
    options = arguments(assignment, None, with_operators=role != "worker")
    at = options.index("--add-dir")
    assert options[at + 1 : at + 5] == (str(tree), str(tree / "part"), lent, "--strict-mcp-config")
    assert values(options, "--setting-sources") == [""]
    (tree / "CLAUDE.md").touch()
    assert lent not in arguments(assignment, None)
