"""Keys come to OpenCode in a file of its own, and not in variables, which its commands would see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aotloop.agents.opencode.settings_isolation import VARIABLE, in_a_file


def settled(
    folder: Path, config: dict[str, Any], env: dict[str, str], *pass_env: str
) -> tuple[dict[str, Any], dict[str, str]]:
    made = in_a_file(config, env, folder, pass_env)
    return json.loads(Path(made.pop(VARIABLE)).read_text()), made


def test_a_key_becomes_that_of_its_provider_and_leaves_the_environment(tmp_path: Path) -> None:
    env = {"OPENAI_API_KEY": "one", "GEMINI_API_KEY": "two", "GOOGLE_API_KEY": "", "PATH": "/bin"}
    config, left = settled(tmp_path, {"model": "m"}, env)
    assert config["provider"] == {"openai": {"options": {"apiKey": "one"}}, "google": {"options": {"apiKey": "two"}}}
    assert config["model"] == "m"
    assert left == {"PATH": "/bin", "GOOGLE_API_KEY": ""}


def test_what_a_person_says_of_a_provider_comes_first(tmp_path: Path) -> None:
    given = {"openai": {"npm": "x", "options": {"apiKey": "own", "baseURL": "u"}}, "xai": {"options": {"a": 1}}}
    config, _ = settled(tmp_path, {"provider": given}, {"OPENAI_API_KEY": "one", "XAI_API_KEY": "two"})
    assert config["provider"]["openai"] == given["openai"]
    assert config["provider"]["xai"] == {"options": {"apiKey": "two", "a": 1}}


def test_what_is_passed_on_explicitly_stays_in_the_environment(tmp_path: Path) -> None:
    _, left = settled(tmp_path, {}, {"OPENAI_API_KEY": "one", "XAI_API_KEY": "two"}, "OPENAI_API_KEY")
    assert left == {"OPENAI_API_KEY": "one"}


def test_nobody_else_can_read_the_file(tmp_path: Path) -> None:
    settled(tmp_path, {"provider": "nonsense"}, {"OPENAI_API_KEY": "one"})
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
