"""Which of four sources has the last word, and how tables of two of them become one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aotloop.config.schema import AgentConfig, Config
from aotloop.config.sources import load
from aotloop.process.spec import Limits
from tests.config.writing import loaded, project_says, refusal, user_says


def test_without_any_settings_there_are_the_defaults(project: Path) -> None:
    config = load(project)
    assert config == Config()
    assert (config.agent, config.isolation, config.worktrees, config.allow_dirty) == (None, "worktree", None, False)
    assert (config.check_timeout, config.setup_timeout) == (120.0, 1800.0)
    assert config.timeouts == Limits(start_up=1800.0, inactivity=1800.0, total=14400.0)
    assert (config.source, config.permissions) == (None, ())


def test_every_key_of_the_file_is_a_field(project: Path) -> None:
    config = loaded(
        project,
        """
        agent = "mine"
        isolation = "none"
        worktrees = "/var/trees"
        setup = "npm ci"
        copy = [".env", "config/*.local"]
        link = ["node_modules"]
        setup_inputs = ["package.json"]
        setup_timeout = "10m"
        check_timeout = 5
        allow_dirty = true
        [timeouts]
        start_up = "1m"
        inactivity = "none"
        total = "1h30m"
        [agents.mine]
        kind = "command"
        argv = ["my-agent", "{prompt}", ""]
        pass_env = ["MY_KEY", "AWS_*"]
        timeouts = {total = false}
        """,
    )
    assert config.source == project / "aot.toml"
    agent = AgentConfig(
        kind="command", argv=("my-agent", "{prompt}", ""), pass_env=("MY_KEY", "AWS_*"), timeouts={"total": None}
    )
    assert config == Config(
        agent="mine",
        isolation="none",
        worktrees=Path("/var/trees"),
        setup="npm ci",
        copy=(".env", "config/*.local"),
        link=("node_modules",),
        setup_inputs=("package.json",),
        setup_timeout=600.0,
        check_timeout=5.0,
        timeouts=Limits(start_up=60.0, inactivity=None, total=5400.0),
        allow_dirty=True,
        agents={"mine": agent},
        source=project / "aot.toml",
        permissions=config.permissions,
    )


ALL_FOUR: list[tuple[str, str, str, str, Any, list[Any]]] = [
    ("agent", '"user"', '"file"', "variable", "flag", ["user", "file", "variable", "flag"]),
    ("isolation", '"none"', '"worktree"', "none", "worktree", ["none", "worktree", "none", "worktree"]),
    ("confine", '"off"', '"auto"', "off", "auto", ["off", "auto", "off", "auto"]),
    ("worktrees", '"/user"', '"/file"', "/variable", "/flag", ["/user", "/file", "/variable", "/flag"]),
    ("check_timeout", '"1s"', "2", "3s", "4s", [1.0, 2.0, 3.0, 4.0]),
    ("allow_dirty", "true", "false", "yes", False, [True, False, True, False]),
]


@pytest.mark.parametrize(("key", "user", "file", "variable", "flag", "expected"), ALL_FOUR)
def test_flags_outdo_variables_outdo_the_project_outdoes_the_user(
    project: Path, own_home: Path, key: str, user: str, file: str, variable: str, flag: object, expected: list[object]
) -> None:
    environ = {"HOME": str(own_home)}
    user_says(own_home, f"{key} = {user}")
    found = [getattr(load(project, environ=environ), key)]
    project_says(project, f"{key} = {file}")
    found.append(getattr(load(project, environ=environ), key))
    environ[f"AOT_{key.upper()}"] = variable
    found.append(getattr(load(project, environ=environ), key))
    found.append(getattr(load(project, environ=environ, flags={key: flag}), key))
    assert [str(value) if isinstance(value, Path) else value for value in found] == expected


def test_a_flag_that_was_not_given_says_nothing(project: Path) -> None:
    project_says(project, 'agent = "file"\nallow_dirty = true')
    config = load(project, flags={"agent": None, "allow_dirty": None})
    assert (config.agent, config.allow_dirty) == ("file", True)


def test_an_empty_variable_says_nothing(project: Path) -> None:
    project_says(project, 'agent = "file"')
    assert load(project, environ={"AOT_AGENT": "", "AOT_ALLOW_DIRTY": ""}).agent == "file"


def test_the_variables_of_this_process_count_unless_others_are_given(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AOT_AGENT", "mine")
    assert load(project).agent == "mine"
    assert load(project, environ={}).agent is None


def test_variables_of_ours_that_are_no_settings_are_left_alone(project: Path) -> None:
    assert load(project, environ={"AOT_STATE_FILE": "x", "AOT_RUN_ID": "y", "AOT_SETUP": "z"}) == Config()


@pytest.mark.parametrize(("word", "meant"), [("1", True), ("TRUE", True), (" on ", True), ("0", False), ("No", False)])
def test_a_variable_says_yes_or_no_in_several_ways(project: Path, word: str, meant: bool) -> None:
    project_says(project, f"allow_dirty = {'false' if meant else 'true'}")
    assert load(project, environ={"AOT_ALLOW_DIRTY": word}).allow_dirty is meant


def test_timeouts_of_two_files_are_joined_key_by_key(project: Path, own_home: Path) -> None:
    user_says(own_home, '[timeouts]\ntotal = "1h"\nstart_up = "none"')
    project_says(project, '[timeouts]\ntotal = "2h"')
    assert load(project).timeouts == Limits(start_up=None, inactivity=1800.0, total=7200.0)
    config = load(project, flags={"timeouts": {"start_up": "5s"}})
    assert config.timeouts == Limits(start_up=5.0, inactivity=1800.0, total=7200.0)


def test_an_agent_of_both_files_is_the_projects_alone_and_others_stay(project: Path, own_home: Path) -> None:
    user_says(own_home, '[agents.a]\nargv = ["mine"]\npass_env = ["SECRET"]\n[agents.b]\nargv = ["b"]')
    project_says(project, '[agents.a]\nargv = ["theirs"]')
    assert load(project).agents == {
        "a": AgentConfig(kind="command", argv=("theirs",)),
        "b": AgentConfig(kind="command", argv=("b",)),
    }


def test_a_list_of_the_project_replaces_the_users_even_by_nothing(project: Path, own_home: Path) -> None:
    user_says(own_home, 'copy = [".env"]\nlink = ["a"]')
    project_says(project, "copy = []")
    config = load(project)
    assert (config.copy, config.link) == ((), ("a",))


# --- worktrees ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "home", "expected"),
    [
        ("~", "/me", "/me"),
        ("~/trees", "/me", "/me/trees"),
        ("~/trees", "/", "/trees"),
        ("~//etc", "/me", "/me/etc"),
        ("/~/x", "/me", "/~/x"),
    ],
)
def test_the_folder_of_worktrees_may_begin_with_the_home(project: Path, written: str, home: str, expected: str) -> None:
    project_says(project, f'worktrees = "{written}"')
    assert load(project, environ={"HOME": home}).worktrees == Path(expected)


@pytest.mark.parametrize("home", ["", "not/absolute"])
def test_where_there_is_no_home_it_is_said(project: Path, home: str) -> None:
    project_says(project, 'worktrees = "~/trees"')
    error = refusal(project, environ={"HOME": home})
    assert (error.message, error.hint) == ("~/trees: you have no home folder", "Set HOME to an absolute path.")


def test_a_variable_may_name_a_folder_that_is_not_utf_8(project: Path) -> None:
    assert load(project, environ={"AOT_WORKTREES": "/caf\udce9"}).worktrees == Path("/caf\udce9")
