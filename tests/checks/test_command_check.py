"""What the outcome of a command proves, and how the evidence says so."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from aotloop.checks.command_check import check_command
from aotloop.checks.results import CheckResult
from aotloop.process.cancellation import Cancellation
from tests.checks.proofs import python
from tests.patience import FOREVER, with_time_enough


def test_a_command_passes_on_exit_0(tmp_path: Path) -> None:
    result = check_command("echo 3 passed", root=tmp_path)
    assert result.passed is True
    assert (result.kind, result.value, result.exit_code) == ("command", "echo 3 passed", 0)
    assert result.output == "3 passed\n"
    assert re.fullmatch(r"exit 0 after \d+\.\d+ s; last line: 3 passed", result.evidence)


@pytest.mark.parametrize("code", [1, 2, 3, 125, 128, 255])
def test_a_command_fails_on_any_other_exit_and_that_satisfies_not_command(tmp_path: Path, code: int) -> None:
    assert check_command(f"exit {code}", root=tmp_path).passed is False
    opposite = check_command(f"exit {code}", root=tmp_path, expect_fail=True)
    assert opposite.passed is True
    assert opposite.kind == "not_command"
    assert opposite.evidence.startswith(f"exit {code} after")


def test_exit_0_does_not_satisfy_not_command(tmp_path: Path) -> None:
    result = check_command("true", root=tmp_path, expect_fail=True)
    assert result.passed is False
    assert "but it should fail" in result.evidence


def test_a_missing_command_does_not_satisfy_not_command(tmp_path: Path) -> None:
    result = check_command("no-such-command-here --audit", root=tmp_path, expect_fail=True)
    assert (result.passed, result.exit_code) == (False, 127)
    assert "command not found, which proves nothing" in result.evidence


def test_a_missing_command_is_named_as_such(tmp_path: Path) -> None:
    result = check_command("no-such-command-here", root=tmp_path)
    assert (result.passed, result.exit_code) == (False, 127)
    assert "command not found" in result.evidence


def test_a_command_that_is_not_executable_does_not_satisfy_not_command(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("exit 1\n")
    result = check_command("./script", root=tmp_path, expect_fail=True)
    assert (result.passed, result.exit_code) == (False, 126)
    assert "not executable, which proves nothing" in result.evidence


@pytest.mark.parametrize("expect_fail", [False, True])
def test_a_time_out_proves_nothing(tmp_path: Path, expect_fail: bool) -> None:
    def tried(limit: float) -> tuple[float, CheckResult]:
        command = f"echo waiting; sleep {FOREVER}"
        return limit, check_command(command, root=tmp_path, timeout=limit, expect_fail=expect_fail)

    limit, result = with_time_enough(tried, lambda outcome: outcome[1].output)
    assert (result.passed, result.exit_code) == (False, None)
    assert result.evidence.startswith(f"timed out after {limit:g} s and was killed")
    assert result.evidence.endswith("last line: waiting")
    assert ("proves nothing" in result.evidence) is expect_fail


@pytest.mark.parametrize("expect_fail", [False, True])
def test_a_cancelled_command_proves_nothing(tmp_path: Path, expect_fail: bool) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    result = check_command("exit 1", root=tmp_path, expect_fail=expect_fail, cancellation=cancellation)
    assert result.passed is False
    assert result.evidence.startswith("cancelled")


def test_death_by_a_signal_does_not_satisfy_not_command(tmp_path: Path) -> None:
    result = check_command("kill -SEGV $$", root=tmp_path, expect_fail=True)
    assert (result.passed, result.exit_code) == (False, None)
    assert "killed by SIGSEGV" in result.evidence


def test_death_by_a_signal_within_the_shell_does_not_satisfy_not_command(tmp_path: Path) -> None:
    crash = python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    result = check_command(f"{crash}; exit $?", root=tmp_path, expect_fail=True)
    assert (result.passed, result.exit_code) == (False, 137)
    assert "killed by SIGKILL, which proves nothing" in result.evidence


def test_a_command_that_the_shell_cannot_read_does_not_satisfy_not_command(tmp_path: Path) -> None:
    result = check_command("grep -q 'leftover src", root=tmp_path, expect_fail=True)
    assert result.passed is False
    assert "the shell cannot read the command, which proves nothing" in result.evidence


@pytest.mark.parametrize("expect_fail", [False, True])
@pytest.mark.parametrize("command", ["", "  \n", "# npm test", "\n  # later\n\n"])
def test_a_command_that_says_nothing_proves_nothing(tmp_path: Path, command: str, expect_fail: bool) -> None:
    result = check_command(command, root=tmp_path, expect_fail=expect_fail)
    assert result.passed is False
    assert "the command is blank" in result.evidence


@pytest.mark.parametrize("expect_fail", [False, True])
def test_a_nul_or_a_missing_folder_is_evidence_and_not_an_exception(tmp_path: Path, expect_fail: bool) -> None:
    result = check_command("echo \0", root=tmp_path, expect_fail=expect_fail)
    assert result.passed is False
    assert "NUL" in result.evidence
    result = check_command("false", root=tmp_path / "gone", expect_fail=expect_fail)
    assert result.passed is False
    assert "there is no directory" in result.evidence


def test_extras_are_added_to_the_environment(tmp_path: Path) -> None:
    command = 'test "$EXTRA" = yes && test -n "$PATH"'
    assert "PATH" in os.environ
    assert check_command(command, root=tmp_path, env={"EXTRA": "yes"}).passed is True
    assert check_command(command, root=tmp_path).passed is False


def test_a_check_leaves_no_compiled_modules_that_would_look_like_uncommitted_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (tmp_path / "greet.py").write_text("NAME = 'Ada'\n")
    assert check_command(python("import sys; sys.path.insert(0, ''); import greet"), root=tmp_path).passed is True
    assert [path.name for path in tmp_path.iterdir()] == ["greet.py"]


def test_evidence_has_neither_colours_nor_control_characters_and_is_short(tmp_path: Path) -> None:
    result = check_command(r"printf '\033[31m3 failed\033[0m\007\033]0;title\007\n\n'; exit 1", root=tmp_path)
    assert result.evidence.endswith("last line: 3 failed")
    result = check_command(python("print('x' * 5000)"), root=tmp_path)
    assert len(result.evidence) < 250
    assert result.evidence.endswith("x…")


def test_a_check_does_not_see_the_persons_keys_unless_the_person_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {"GITHUB_TOKEN": "t-1", "MY_DB_PASSWORD": "p-2", "DATABASE_URL": "postgres://me:p-3@db/x"}
    for name, value in {**secrets, "EDITOR": "vi", "HTTPS_PROXY": "http://me:p-4@proxy"}.items():
        monkeypatch.setenv(name, value)
    seen = check_command("env", root=tmp_path).output or ""
    assert [name for name in secrets if name in seen] == []
    assert "EDITOR=vi" in seen
    assert "p-4" in seen
    monkeypatch.setenv("AOT_CHECK_ENV", "OTHER, DATABASE_URL")
    seen = check_command("env", root=tmp_path).output or ""
    assert [name for name in secrets if f"{name}=" in seen] == ["DATABASE_URL"]


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GITHUB_TOKEN", "SECRETTOK1", "SECRETTOK1"),
        ("MY_DB_PASSWORD", "SECRETTOK2", "SECRETTOK2"),
        ("DATABASE_URL", "postgres://u:SECRETTOK3@h/d", "SECRETTOK3"),
        ("SIGNING_KEY", "first-line-1\nSECRETTOK4", "SECRETTOK4"),
    ],
)
def test_what_a_check_prints_has_no_known_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, secret: str
) -> None:
    """It does not see it; and if a file holds the same value, or the person passes it on, it is not kept."""
    monkeypatch.setenv(name, value)
    assert check_command(f'test -z "${name}"', root=tmp_path).passed
    (tmp_path / "file").write_text(f"it is {value} here")
    for env in ({}, {name: value}):
        result = check_command(f'cat file; printenv {name}; echo; echo "last {secret}"; exit 1', root=tmp_path, env=env)
        assert secret not in (result.output or "")
        assert secret not in result.evidence
        assert "[secret]" in result.evidence
