"""Every key, every value that is wrong for it, and every answer."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from aotloop.config.schema import AgentConfig, Config
from aotloop.config.tables import _AGENT, KEYS, OWN_KEYS
from tests.config.writing import complaint, loaded

LENGTH = 'Write seconds, or for example "90s", "30m" or "1h30m".'
LENGTH_OR_NONE = 'Write seconds, or for example "90s", "30m" or "1h30m"; "none" means no limit.'
EMPTY = "Give it a value, or leave it out."
NAME = "Use letters, digits, and . _ - after the first."
WITHIN = "Write it as seen from the project."
KNOWN = "{prompt}, {prompt_file}, {result_file}, {atom}, {attempt}"
NAMES = "Write names, or beginnings, as in AWS_*."


def test_keys_are_the_fields_of_config() -> None:
    fields = [field.name for field in msgspec.structs.fields(Config)]
    assert [*KEYS, *OWN_KEYS] == [name for name in fields if name not in ("source", "permissions")]
    assert list(_AGENT) == [field.name for field in msgspec.structs.fields(AgentConfig)]


# --- keys --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("setpu = 1", "setpu: there is no such key", "Did you mean setup?"),
        ("timeout = 1", "timeout: there is no such key", "Did you mean timeouts?"),
        ("permissions = []", "permissions: there is no such key", None),
        ("source = 'x'", "source: there is no such key", None),
        ('"" = 1', ": there is no such key", None),
        ("[timeouts]\ntotl = 1", "timeouts.totl: there is no such key", "Did you mean total?"),
        ("[agents.x]\nargs = []", "agents.x.args: there is no such key", "Did you mean argv?"),
        (
            "[agents.x]\ntimeouts.startup = 1",
            "agents.x.timeouts.startup: there is no such key",
            "Did you mean start_up?",
        ),
    ],
)
def test_an_unknown_key_is_refused_and_the_nearest_named(
    project: Path, text: str, message: str, hint: str | None
) -> None:
    found, told = complaint(project, text)
    assert found == message
    assert told == (hint or f"There are: {', '.join(KEYS)}.")


def test_where_nothing_is_near_all_keys_are_named(project: Path) -> None:
    _, hint = complaint(project, "[timeouts]\nzzz = 1")
    assert hint == "There are: start_up, inactivity, total."


# --- kinds of values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("agent = true", "agent: must be text, and is true or false", None),
        ("agent = []", "agent: must be text, and is a list", None),
        ("agent = {}", "agent: must be text, and is a table", None),
        ("agent = 1.5", "agent: must be text, and is a number", None),
        ("agent = 1979-05-27", "agent: must be text, and is a date", None),
        ("agent = 07:32:00", "agent: must be text, and is a time", None),
        ("agent = ''", "agent: is empty", EMPTY),
        ("agent = '-x'", "agent: '-x' cannot be the name of an agent", NAME),
        ('agent = "a\\u0000"', "agent: contains a zero byte, which is not allowed", None),
        ("isolation = ''", "isolation: is empty", EMPTY),
        ("confine = 'on'", "confine: 'on' is not one of: auto, off", None),
        ("isolation = 'docker'", "isolation: 'docker' is not one of: worktree, none, remote", None),
        ("isolation = 'non'", "isolation: 'non' is not one of: worktree, none, remote", "Did you mean none?"),
        ("isolation = false", "isolation: must be text, and is true or false", None),
        ("worktrees = ''", "worktrees: '' is not an absolute path", "Begin it with / or with ~/."),
        ("worktrees = 'trees'", "worktrees: 'trees' is not an absolute path", "Begin it with / or with ~/."),
        ('worktrees = "/a\\u0000"', "worktrees: contains a zero byte, which is not allowed", None),
        ("setup = ['npm', 'ci']", "setup: must be text, and is a list", None),
        ("setup = ' \t '", "setup: is empty", EMPTY),
        ("allow_dirty = 'yes'", "allow_dirty: must be true or false, and is text", None),
        ("allow_dirty = 1", "allow_dirty: must be true or false, and is a whole number", None),
        ("timeouts = '1h'", "timeouts: must be a table, and is text", "Its heading is: [timeouts]"),
        ("agents = ['x']", "agents: must be a table, and is a list", "Its heading is: [agents]"),
        ("[[agents]]", "agents: must be a table, and is a list", "Its heading is: [agents]"),
        ("agents.x = 'claude'", "agents.x: must be a table, and is text", "Its heading is: [agents.x]"),
    ],
)
def test_a_value_of_another_kind_is_refused(project: Path, text: str, message: str, hint: str | None) -> None:
    assert complaint(project, text) == (message, hint)


def test_a_long_value_is_not_repeated_in_full(project: Path) -> None:
    message, _ = complaint(project, f"isolation = '{'x' * 9000}'")
    assert len(message) < 120


# --- lengths of time ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "-inf", "0.0"])
@pytest.mark.parametrize("key", ["check_timeout", "setup_timeout"])
def test_a_number_that_is_no_length_of_time_is_refused(project: Path, key: str, value: str) -> None:
    assert complaint(project, f"{key} = {value}") == (f"{key}: this number is not a length of time", LENGTH)


@pytest.mark.parametrize("value", ["", "soon", "1h30", "-5s", "5 minutes", "0s", "none", "1e3"])
@pytest.mark.parametrize("key", ["check_timeout", "setup_timeout"])
def test_text_that_is_no_length_of_time_is_refused(project: Path, key: str, value: str) -> None:
    assert complaint(project, f"{key} = '{value}'") == (f"{key}: {value!r} is not a length of time", LENGTH)


@pytest.mark.parametrize(("value", "kind"), [("true", "true or false"), ("false", "true or false"), ("[]", "a list")])
def test_a_check_always_has_a_limit(project: Path, value: str, kind: str) -> None:
    assert complaint(project, f"check_timeout = {value}") == (
        f"check_timeout: must be a length of time, and is {kind}",
        LENGTH,
    )


@pytest.mark.parametrize("value", ["'none'", "'None'", "' NONE '", "false"])
def test_a_limit_of_attempts_can_be_turned_off(project: Path, value: str) -> None:
    assert loaded(project, f"timeouts.total = {value}").timeouts.total is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("true", "must be a length of time, and is true or false"),
        ("0", "this number is not a length of time"),
        ("'never'", "'never' is not a length of time"),
        ("{}", "must be a length of time, and is a table"),
    ],
)
def test_a_bad_limit_of_attempts_is_refused_with_the_way_to_have_none(project: Path, value: str, message: str) -> None:
    assert complaint(project, f"timeouts.total = {value}") == (f"timeouts.total: {message}", LENGTH_OR_NONE)


# --- files to copy, to link, to watch ----------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["copy", "link", "setup_inputs"])
@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ('".env"', ": must be a list, and is text", 'Write: {key} = [".env"]'),
        ("3", ": must be a list, and is a whole number", None),
        ("[3]", "[0]: must be text, and is a whole number", None),
        ("['a', '']", "[1]: is empty", EMPTY),
        ("['/etc/passwd']", "[0]: '/etc/passwd' is not a path within the project", WITHIN),
        ("['~/.ssh']", "[0]: '~/.ssh' is not a path within the project", WITHIN),
        ("['a/../../b']", "[0]: 'a/../../b' is not a path within the project", WITHIN),
        ("['.']", "[0]: '.' is not a path within the project", WITHIN),
        ("['./']", "[0]: './' is not a path within the project", WITHIN),
        ("['a**']", "[0]: 'a**' is not a pattern", "** stands for folders, and alone between slashes."),
        ('["a\\u0000b"]', "[0]: contains a zero byte, which is not allowed", None),
    ],
)
def test_a_bad_pattern_is_refused(project: Path, key: str, value: str, message: str, hint: str | None) -> None:
    assert complaint(project, f"{key} = {value}") == (f"{key}{message}", hint and hint.replace("{key}", key))


def test_whatever_pattern_is_accepted_can_be_searched_for(project: Path) -> None:
    patterns = ("**/*.env", "[", "[z-a]", "a b", "a\\b", "-x", "…", "**", "./a", "a//b", "*", "a\nb", ".../x")
    config = loaded(project, f"copy = {msgspec.json.encode(patterns).decode()}")
    assert config.copy == patterns
    for pattern in patterns:
        list(project.glob(pattern))


# --- agents ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("argv = 'my-agent \"a b\"'", "argv: must be a list, and is text", 'Write: argv = ["my-agent", "a b"]'),
        ('argv = "it\'s"', "argv: must be a list, and is text", 'Write: argv = ["my-agent", "{prompt}"]'),
        ("argv = {}", "argv: must be a list, and is a table", None),
        ("argv = ['a', 1]", "argv[1]: must be text, and is a whole number", None),
        ('argv = ["a", "\\u0000"]', "argv[1]: contains a zero byte, which is not allowed", None),
        (
            "argv = []",
            "argv: an agent of the kind `command` needs argv",
            'For example: argv = ["my-agent", "{prompt}"]',
        ),
        (
            "argv = [' ', 'x']",
            "argv: an agent of the kind `command` needs argv",
            'For example: argv = ["my-agent", "{prompt}"]',
        ),
        (
            "pass_env = []",
            "argv: an agent of the kind `command` needs argv",
            'For example: argv = ["my-agent", "{prompt}"]',
        ),
        (
            "argv = ['a', '{promt}']",
            f"argv: {{promt}} in '{{promt}}' is unknown; known are: {KNOWN}",
            "To use it literally, write {{promt}}.",
        ),
        (
            "argv = ['a']\noperator_settings = true",
            "operator_settings: agents of the kind command always load their own settings",
            "Leave it out: it is for the kinds claude, codex, opencode.",
        ),
        (
            "kind = 'comand'",
            "kind: 'comand' is not one of: shell, command, claude, codex, opencode, acp, openai",
            "Did you mean command?",
        ),
        ("kind = ''", "kind: is empty", EMPTY),
        (
            "kind = 'shell'\nargv = ['a']",
            "argv: agents of the kind shell have no argv",
            "Leave it out, or choose the kind command.",
        ),
        ("pass_env = 'KEY'", "pass_env: must be a list, and is text", 'Write: pass_env = ["KEY"]'),
        ("pass_env = ['']", "pass_env[0]: is empty", EMPTY),
        (
            "pass_env = ['*']",
            "pass_env[0]: not all variables can be passed at once",
            "Name them, or their beginnings, as in AWS_*.",
        ),
        ("pass_env = ['A', 'B=1']", "pass_env[1]: 'B=1' is not the name of a variable", NAMES),
        ("pass_env = ['A*B']", "pass_env[0]: 'A*B' is not the name of a variable", NAMES),
        ("pass_env = ['A, B']", "pass_env[0]: 'A, B' is not the name of a variable", NAMES),
        ("pass_env = ['$KEY']", "pass_env[0]: '$KEY' is not the name of a variable", NAMES),
        ("timeouts.total = 'x'", "timeouts.total: 'x' is not a length of time", LENGTH_OR_NONE),
    ],
)
def test_a_bad_agent_is_refused(project: Path, text: str, message: str, hint: str | None) -> None:
    assert complaint(project, f"[agents.x]\n{text}") == (f"agents.x.{message}", hint)


@pytest.mark.parametrize("name", ["", "a b", "-x", ".x", "a\nb", "cl\u0430ude", "a\x1b[2J", "x" * 100 + "!", "a:b"])
def test_an_agent_is_named_in_plain_letters(project: Path, name: str) -> None:
    message, hint = complaint(project, f"[agents.{msgspec.json.encode(name).decode()}]\nargv = ['a']")
    assert message.startswith("agents: ")
    assert hint == (NAME if name else EMPTY)
    if name:
        assert message.endswith(" cannot be the name of an agent")


def test_the_kind_is_the_name_if_that_is_a_kind_and_else_command(project: Path) -> None:
    config = loaded(project, "[agents.shell]\n[agents.command]\nargv = ['a']\n[agents.x]\nargv = ['b']")
    assert {name: agent.kind for name, agent in config.agents.items()} == {
        "shell": "shell",
        "command": "command",
        "x": "command",
    }


def test_an_agent_with_the_name_of_a_kind_is_of_that_kind(project: Path) -> None:
    assert complaint(project, "[agents.shell]\nkind = 'command'\nargv = ['a']") == (
        "agents.shell.kind: an agent called shell is of the kind shell, not command",
        "Give this agent another name.",
    )
