"""What the rest of the program asks of a configuration: how to set up a worktree, and how to make an agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.agents.registry import BACKENDS, Settings, backend
from aotloop.config.schema import AgentConfig, Config
from aotloop.errors import Unavailable
from aotloop.git.worktrees.setup import Setup
from aotloop.process.spec import Limits
from tests.config.writing import loaded

HOW = 'To configure one, add to aot.toml: [agents.NAME] with argv = ["my-agent", "{prompt}"]'


def test_what_is_configured_about_worktrees_is_a_setup(project: Path) -> None:
    config = loaded(
        project, "setup = 'npm ci'\ncopy = ['.env']\nlink = ['big']\nsetup_inputs = []\nsetup_timeout = '5m'"
    )
    assert config.worktree_setup == Setup(command="npm ci", copy=(".env",), link=("big",), inputs=(), timeout=300.0)


def test_nothing_configured_about_worktrees_is_the_setup_by_default() -> None:
    assert Config().worktree_setup == Setup()


def test_a_configured_agent_has_its_kind_its_settings_and_its_limits(project: Path) -> None:
    config = loaded(
        project,
        """
        [timeouts]
        total = "1h"
        [agents.mine]
        argv = ["my-agent", "{prompt}"]
        pass_env = ["KEY"]
        [agents.mine.timeouts]
        inactivity = "none"
        start_up = 10
        """,
    )
    kind, settings, limits = config.agent_settings("mine")
    assert kind == "command"
    assert settings == Settings(argv=("my-agent", "{prompt}"), pass_env=("KEY",))
    assert limits == Limits(start_up=10.0, inactivity=None, total=3600.0)
    assert backend(kind, settings).name == "command"


@pytest.mark.parametrize("name", [name for name in BACKENDS if name not in ("command", "acp")])
def test_a_backend_needs_no_configuration(name: str) -> None:
    assert Config().agent_settings(name) == (name, Settings(), Config().timeouts)


def test_a_backend_may_be_configured_under_its_own_name(project: Path) -> None:
    own = loaded(project, "[agents.codex]\noperator_settings = true").agent_settings("codex")
    assert own[:2] == ("codex", Settings(operator_settings=True))
    kind, settings, _ = loaded(project, "[agents.shell]\npass_env = ['KEY']").agent_settings("shell")
    assert (kind, settings) == ("shell", Settings(pass_env=("KEY",)))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("mime", f"Did you mean mine? {HOW}"), ("gpt", HOW), ("command", HOW), ("", HOW), ("a\x1b[2J\udcff", HOW)],
)
def test_an_unknown_agent_is_answered_with_what_there_is_and_how_to_have_more(name: str, hint: str) -> None:
    config = Config(agents={"mine": AgentConfig(kind="command", argv=("m",))})
    with pytest.raises(Unavailable) as caught:
        config.agent_settings(name)
    assert (
        caught.value.message == f"there is no agent {name!r}; there are: claude, codex, mine, openai, opencode, shell"
    )
    assert caught.value.hint == hint


def test_a_configured_agent_called_command_is_one_of_those_there_are() -> None:
    config = Config(agents={"command": AgentConfig(kind="command", argv=("m",))})
    assert config.agent_settings("command")[1].argv == ("m",)
    with pytest.raises(Unavailable, match="there are: claude, codex, command, openai, opencode, shell"):
        config.agent_settings("x")


def test_a_client_can_have_another_model_and_another_program(project: Path) -> None:
    config = loaded(project, "[agents.careful]\nkind = 'claude'\nmodel = 'opus'\nprogram = '/opt/claude'")
    kind, settings, _ = config.agent_settings("careful")
    assert (kind, settings) == ("claude", Settings(model="opus", program="/opt/claude"))
    assert config.permissions == (
        "agent careful is of the kind claude",
        "agent careful is the program: /opt/claude",
        "agent careful uses the model: opus",
    )


def test_an_agent_that_speaks_the_protocol_has_arguments_of_its_own(project: Path) -> None:
    kind, settings, _ = loaded(project, "[agents.mine]\nkind = 'acp'\nargv = ['my-agent', '--acp']").agent_settings(
        "mine"
    )
    assert (kind, settings.argv) == ("acp", ("my-agent", "--acp"))
