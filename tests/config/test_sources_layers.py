"""Where settings are looked for, and what is said when a variable, a flag or two files are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aotloop.config.schema import Config
from aotloop.config.sources import VARIABLES, load
from aotloop.config.tables import KEYS
from tests.config.writing import complaint, project_says, refusal, user_says

# --- the user's own ----------------------------------------------------------------------------------------------


def test_the_users_file_is_in_the_folder_that_xdg_names(project: Path, own_home: Path, tmp_path: Path) -> None:
    user_says(own_home, 'agent = "home"')
    (tmp_path / "xdg" / "aotloop").mkdir(parents=True)
    (tmp_path / "xdg" / "aotloop" / "config.toml").write_text('agent = "xdg"')
    assert load(project, environ={"HOME": str(own_home), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}).agent == "xdg"
    assert load(project, environ={"HOME": str(own_home), "XDG_CONFIG_HOME": ""}).agent == "home"


def test_a_relative_folder_would_be_the_repositorys_and_does_not_count(project: Path, own_home: Path) -> None:
    (project / "evil" / "aotloop").mkdir(parents=True)
    (project / "evil" / "aotloop" / "config.toml").write_text('agent = "evil"')
    assert load(project, environ={"HOME": str(own_home), "XDG_CONFIG_HOME": "evil"}) == Config()
    (project / ".config" / "aotloop").mkdir(parents=True)
    (project / ".config" / "aotloop" / "config.toml").write_text('agent = "evil"')
    for home in ("", "."):
        assert load(project, environ={"HOME": home}) == Config()


def test_the_home_of_the_process_is_taken_where_none_is_given(project: Path, own_home: Path) -> None:
    user_says(own_home, 'agent = "home"')
    assert load(project, environ={}).agent == "home"


def test_a_mistake_in_the_users_file_names_that_file(project: Path, own_home: Path) -> None:
    path = user_says(own_home, "agent = 3")
    assert refusal(project).message == f"{path}: agent: must be text, and is a whole number"


def test_a_config_folder_that_is_a_file_holds_no_settings(project: Path, own_home: Path) -> None:
    (own_home / ".config").write_text("")
    assert load(project) == Config()


# --- the project's -----------------------------------------------------------------------------------------------


def test_settings_may_be_in_pyproject(project: Path) -> None:
    path = project / "pyproject.toml"
    path.write_text('[project]\nname = "x"\n[tool.aot]\nagent = "mine"\n[tool.aot.agents.mine]\nargv = ["m"]\n')
    config = load(project)
    assert (config.agent, config.source) == ("mine", path)
    assert config.permissions == ("default agent: mine", "agent mine: m")


@pytest.mark.parametrize(
    "text",
    ["", "[project]\nname='x'", "[tool.ruff]\n", "# aot\ntool = 3", "[tool]\naotloop = 1", "tool = [{aot = 1}]"],
)
def test_a_pyproject_of_others_says_nothing(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)
    assert load(project) == Config()


def test_a_broken_pyproject_is_our_business_only_if_it_mentions_us(project: Path) -> None:
    path = project / "pyproject.toml"
    path.write_text("[broken")
    assert load(project) == Config()
    path.write_text("[tool.aot]\n[broken")
    assert refusal(project).message.startswith(f"{path}: line 2: ")


def test_a_mistake_in_pyproject_is_named_as_it_stands_there(project: Path) -> None:
    path = project / "pyproject.toml"
    path.write_text("[tool.aot.timeouts]\ntotal = 0")
    assert refusal(project).message == f"{path}: tool.aot.timeouts.total: this number is not a length of time"
    path.write_text("[tool]\naot = 3")
    error = refusal(project)
    assert error.message == f"{path}: tool.aot: must be a table, and is a whole number"
    assert error.hint == "Its heading is: [tool.aot]"


def test_settings_in_both_files_are_refused(project: Path) -> None:
    ours, shared = project_says(project, "allow_dirty = true"), project / "pyproject.toml"
    shared.write_text("[tool.aot]\nallow_dirty = true")
    error = refusal(project)
    assert error.message == f"{ours} and [tool.aot] of {shared} both hold settings"
    assert error.hint == "Keep them in one of the two."


def test_a_file_without_settings_stands_in_nobodys_way(project: Path) -> None:
    ours, shared = project_says(project, "# nothing yet\n"), project / "pyproject.toml"
    assert load(project).source == ours
    shared.write_text("[tool.aot]\nallow_dirty = true")
    assert (load(project).source, load(project).allow_dirty) == (shared, True)
    project_says(project, "allow_dirty = true")
    shared.write_text("[tool.aot]\n")
    assert load(project).source == ours


def test_only_the_projects_root_is_looked_at(project: Path) -> None:
    project_says(project, 'agent = "above"')
    (project / "inner").mkdir()
    assert load(project / "inner") == Config()
    assert load(project / "no such folder") == Config()


# --- variables and flags -----------------------------------------------------------------------------------------


def test_every_variable_stands_for_a_key_that_there_is() -> None:
    assert set(VARIABLES.values()) <= set(KEYS)
    assert all(name == f"AOT_{key.upper()}" for name, key in VARIABLES.items())


@pytest.mark.parametrize(
    ("name", "value", "message", "hint"),
    [
        ("AOT_AGENT", "a b", "'a b' cannot be the name of an agent", "Use letters, digits, and . _ - after the first."),
        ("AOT_AGENT", " ", "is empty", "Give it a value, or leave it out."),
        ("AOT_AGENT", "\udcff", "is not valid UTF-8", None),
        ("AOT_ISOLATION", "worktre", "'worktre' is not one of: worktree, none, remote", "Did you mean worktree?"),
        ("AOT_WORKTREES", "../x", "'../x' is not an absolute path", "Begin it with / or with ~/."),
        ("AOT_WORKTREES", "~you/x", "'~you/x' is not an absolute path", "Begin it with / or with ~/."),
        ("AOT_ALLOW_DIRTY", "maybe", "'maybe' is neither yes nor no", "Write 1 or 0."),
        (
            "AOT_CHECK_TIMEOUT",
            "none",
            "'none' is not a length of time",
            'Write seconds, or for example "90s", "30m" or "1h30m".',
        ),
    ],
)
def test_a_mistake_in_a_variable_names_the_variable(
    project: Path, name: str, value: str, message: str, hint: str | None
) -> None:
    error = refusal(project, environ={name: value})
    assert (error.message, error.hint) == (f"{name}: {message}", hint)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"check_timeout": "soon"}, "--check-timeout: 'soon' is not a length of time"),
        ({"copy": ".env"}, "--copy: must be a list, and is text"),
        ({"copy": ("ok", "/etc")}, "--copy: [1]: '/etc' is not a path within the project"),
        ({"timeouts": 5}, "--timeouts: must be a table, and is a whole number"),
        ({"timeouts": {"total": None}}, "--timeouts: total: must be a length of time, and is nothing"),
        ({"chek_timeout": "5s"}, "--chek-timeout: there is no such key"),
        ({"setup": "\udcff"}, "--setup: is not valid UTF-8"),
    ],
)
def test_a_mistake_in_a_flag_names_the_flag(project: Path, flags: dict[str, Any], message: str) -> None:
    assert refusal(project, flags=flags).message == message


def test_mistakes_are_found_although_something_stronger_outdoes_them(project: Path) -> None:
    message, _ = complaint(project, "agent = 3")
    project_says(project, "agent = 3")
    assert refusal(project, flags={"agent": "mine"}).message.endswith(message)
