"""What can be known of a client before it is used: where it is, how old it is, whether somebody logged in."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from aotloop.agents.acp.presets import PRESETS
from aotloop.agents.client.detection import Presence, login_by, look_for
from aotloop.agents.client.versions import age, all_with_versions, with_version
from aotloop.agents.contract import Backend
from aotloop.agents.registry import BACKENDS, EndpointSettings, Settings, backend
from tests.agents.assignments import all_dead
from tests.modelserver.clients import CLIENTS
from tests.modelserver.operators import each_client
from tests.patience import PATIENCE, with_time_enough

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY")
SECRET = "sk-canary-0123456789"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {*KEYS, *(key for preset in PRESETS.values() for key in preset.keys)}:
        monkeypatch.delenv(name, raising=False)


def a_client(folder: Path, body: str, name: str = "client") -> str:
    """A program in Python."""
    path = folder / name
    path.write_text(f"#!{sys.executable} -IS\nimport os, sys, time\n{body}\n")
    path.chmod(0o755)
    return str(path)


def asked(program: str, patience: float = PATIENCE) -> Presence:
    return with_version(look_for(program, install="Get it."), patience)


# --- real clients -------------------------------------------------------------------------------------------------


@each_client
def test_a_real_client_tells_its_version_and_leaves_nothing_in_the_users_home(client: str, own_home: Path) -> None:
    program = CLIENTS[client]
    found = with_version(backend(client, Settings(program=str(program))).look(), PATIENCE)
    assert found.problem is None
    assert found.version is not None
    assert found.version[0].isdigit()
    assert found.doubt is None, "it is the one that was tested"
    assert found.program == str(program)
    assert list(own_home.iterdir()) == []


def test_it_is_said_whose_claude_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "claude_agent_sdk"
    (package / "_bundled").mkdir(parents=True)
    (package / "__init__.py").touch()
    a_client(package / "_bundled", "print('2.1.9 (Claude Code)')", "claude")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PATH", os.devnull)
    carried = with_version(backend("claude").look())
    assert (carried.version, carried.origin) == ("2.1.9", "the one that claude-agent-sdk carries")
    own = a_client(tmp_path, "print('3.0.0 (Claude Code)')", "claude")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = with_version(backend("claude").look())
    assert (found.program, found.origin) == (own, "your own `claude`")
    assert found.doubt == "3.0.0 is much newer than what was tested (2.1)"
    configured = backend("claude", Settings(program=own)).look()
    assert configured.origin == "the one of the configuration"


# --- strange ones -------------------------------------------------------------------------------------------------


def test_one_that_hangs_is_not_waited_for_and_leaves_nothing(tmp_path: Path) -> None:
    child = "if os.fork() == 0:\n    os.setsid()\nopen(sys.argv[0] + str(os.getpid()), 'w').close()\ntime.sleep(3600)"
    program = a_client(tmp_path, child)

    def pids() -> list[int]:
        return [int(path.name.removeprefix("client")) for path in tmp_path.glob("client?*")]

    found = with_time_enough(lambda limit: asked(program, limit), lambda _: len(pids()) >= 2)
    assert re.fullmatch(r"client did not answer within [\d.]+ s", found.problem or "")
    assert found.version is None
    assert not found.is_missing, "it is there, after all"
    assert all_dead(pids())


def test_one_that_says_endlessly_much_is_not_listened_to(tmp_path: Path) -> None:
    body = "for _ in range(100):\n    os.write(1, b'x' * 2**20)\n    open(sys.argv[0] + '.heard', 'w').close()"
    found = asked(a_client(tmp_path, body))
    assert found.problem == "client printed more than a version"
    assert not (tmp_path / "client.heard").exists(), "not even the first of a hundred megabytes"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("print('hello')", "client told no version, but 'hello'"),
        ("pass", "client told no version, but 'nothing'"),
        ("sys.stdout.buffer.write(bytes(range(256)))", "client told no version"),
        ("print('1.2.3'); sys.exit('no such option')", "client failed (exit 1): no such option"),
        ("os.kill(os.getpid(), 9)", "client failed (killed by SIGKILL"),
        ("print('\\x1b]0;owned\\x07 2'*500)", "client told no version"),
    ],
)
def test_one_that_tells_none_says_so_and_how(tmp_path: Path, body: str, problem: str) -> None:
    found = asked(a_client(tmp_path, body))
    assert found.problem is not None
    assert found.problem.startswith(problem)
    assert found.problem.isprintable()
    assert len(found.problem) < 200
    assert found.version is None
    assert "--version" in (found.remedy or "")


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("2.1.325 (Claude Code)", "2.1.325"),
        ("codex-cli 0.166.0", "0.166.0"),
        ("v20.20.2", "20.20.2"),
        ("WARNING: careful\\ncodex-cli 1.0.0-alpha.2", "1.0.0-alpha.2"),
    ],
)
def test_a_version_is_found_in_what_is_said(tmp_path: Path, said: str, version: str) -> None:
    assert asked(a_client(tmp_path, f"print('{said}')")).version == version


def test_whoever_still_holds_its_output_does_not_hold_us_up(tmp_path: Path) -> None:
    program = a_client(tmp_path, "print('1.2.3', flush=True)\nif os.fork() == 0:\n    time.sleep(3600)")
    assert asked(program, PATIENCE).version == "1.2.3"


def test_it_sees_no_more_of_our_environment_than_an_agent_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    monkeypatch.setenv("A_SECRET", SECRET)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own_home))
    told = tmp_path / "told"
    body = f"open({str(told)!r}, 'w').write(repr(dict(os.environ)) + os.getcwd())\nprint('1.2')"
    presence = look_for(a_client(tmp_path, body), install="", folders=("XDG_CONFIG_HOME",))
    assert with_version(presence).version == "1.2"
    seen = told.read_text()
    assert SECRET not in seen
    assert f"'XDG_CONFIG_HOME': '{own_home}'" not in seen
    assert str(tmp_path) not in seen.rpartition("}")[2]


def test_several_are_asked_at_the_same_time(tmp_path: Path) -> None:
    """Each waits until the others have been asked, too."""
    wait = f"""
open(sys.argv[0] + '.asked', 'w').close()
while len([one for one in os.listdir({str(tmp_path)!r}) if one.endswith('.asked')]) < 4:
    time.sleep(0.01)
print('1.2.3')"""
    clients = {f"c{one}": look_for(a_client(tmp_path, wait, f"c{one}"), install="") for one in range(4)}
    found = all_with_versions(clients, PATIENCE)
    assert [one.version for one in found.values()] == ["1.2.3"] * 4
    assert all_with_versions({}) == {}


# --- where it is --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_can_be_looked_at_wherever_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    nowhere = EndpointSettings(base_url="http://127.0.0.1:9/v1")  # a server of this machine may use the usual ports
    looked: Backend = backend(name, Settings(argv=("no-such-agent",), endpoint=nowhere))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "openai", raising=False)  # another test may have loaded it
    found = looked.look()
    if name == "shell":
        assert (found.program, found.login) == ("/bin/sh", None)
        return
    assert found.is_missing
    assert found.remedy, "it is said how to get it"
    assert with_version(found) == found
    assert list(own_home.iterdir()) == []


@pytest.mark.parametrize("name", PRESETS)
def test_every_agent_that_is_known_to_speak_acp_can_be_looked_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = backend("acp", Settings(program=name)).look()
    assert missing.is_missing
    assert missing.remedy == PRESETS[name].install
    program = a_client(tmp_path, "print('5.6.7')", PRESETS[name].argv[0])
    found = with_version(backend("acp", Settings(program=name)).look())
    assert found.program == program
    assert found.version == ("5.6.7" if PRESETS[name].tells_version else None)


@pytest.mark.parametrize("kind", ["command", "acp"])
def test_a_program_that_is_not_known_is_never_started_to_ask_it(kind: str, tmp_path: Path) -> None:
    program = a_client(tmp_path, "open(sys.argv[0] + '.started', 'w').close()")
    found = with_version(backend(kind, Settings(argv=(program,))).look())
    assert (found.program, found.version, found.problem) == (program, None, None)
    assert not (tmp_path / "client.started").exists()


@pytest.mark.parametrize("argv", [("./agent.sh",), ("{atom}",), ("tools/agent", "{prompt}")])
def test_what_only_the_folder_of_an_attempt_can_tell_is_not_missing(argv: tuple[str, ...]) -> None:
    found = backend("command", Settings(argv=argv)).look()
    assert not found.is_missing
    assert found.problem is None


# --- whether somebody logged in -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("claude", "ANTHROPIC_API_KEY", ".claude/.credentials.json"),
        ("codex", "OPENAI_API_KEY", ".codex/auth.json"),
        ("opencode", "OPENROUTER_API_KEY", ".local/share/opencode/auth.json"),
    ],
)
def test_a_login_is_known_by_a_key_or_a_file_and_neither_is_shown(
    name: str, variable: str, file: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = backend(name).look()
    assert before.login is not None
    assert before.login.state == ("unknown" if name == "opencode" else "no")
    assert before.log_in
    path = own_home / file
    path.parent.mkdir(parents=True)
    path.touch()
    assert backend(name).look().login == before.login, "an empty file is none"
    path.write_text(SECRET)
    by_file = backend(name).look()
    assert by_file.login is not None
    assert (by_file.login.state, by_file.login.because) == ("yes", f"{path} is there")
    monkeypatch.setenv(variable, SECRET)
    by_key = backend(name).look()
    assert by_key.login is not None
    assert (by_key.login.state, by_key.login.because) == ("yes", f"{variable} is set")
    assert SECRET not in repr((by_file, by_key))


def test_the_credentials_of_a_cloud_are_its_own_affair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    login = backend("claude").look().login
    assert login is not None
    assert login.state == "unknown"
    assert "CLAUDE_CODE_USE_BEDROCK" in login.because


def test_many_variables_are_not_all_listed() -> None:
    assert login_by({}, "ABCDE").because == "none of A, B, C and 2 more is set"


@pytest.mark.parametrize(
    ("version", "doubt"),
    [
        ("2.1.0", None),
        ("2.99", None),
        ("2.0.44", "2.0.44 is older than what was tested (2.1)"),
        ("1.9", "1.9 is older than what was tested (2.1)"),
        ("3.0", "3.0 is much newer than what was tested (2.1)"),
        ("", None),
        ("new", None),
    ],
)
def test_an_age_that_was_not_tested_is_doubted(version: str, doubt: str | None) -> None:
    assert age(version, (2, 1)) == doubt
    assert age(version, ()) is None


def test_a_client_in_a_project_is_not_started_for_its_version(tmp_path: Path) -> None:
    """Seen: `aot doctor` and `aot run` started what a repository had in node_modules/.bin, on a PATH that names it."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "bin").mkdir()
    program = a_client(project / "bin", f"open({str(tmp_path / 'trace')!r}, 'w')\nprint('1.2.3')")
    presence = asked(program)
    assert presence.version is None
    assert program in (presence.doubt or "")
    assert not (tmp_path / "trace").exists()
    (tmp_path / "link").symlink_to(program)
    assert asked(str(tmp_path / "link")).version is None
    assert asked(a_client(tmp_path, "print('1.2.3')")).version == "1.2.3"
