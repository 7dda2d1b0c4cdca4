"""The shell does what `run` says, and tells in words how it went."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.contract import Backend, Crashed, Done, Failed, Outcome
from aotloop.agents.shell import Shell
from aotloop.errors import AotError, Unavailable
from tests.agents.assignments import an_assignment, attempt
from tests.agents.conformance import Conformance


class TestShell(Conformance):
    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        del folder
        return Shell(), {"command": f"exec {shlex.quote(sys.executable)} {shlex.quote(str(program))}"}


class TestShellWithAShellBetween(TestShell):
    """The program is not the leader of the session, but its child."""

    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        del folder
        return Shell(), {"command": f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}; exit $?"}


def ran(folder: Path, command: str, **more: Any) -> Outcome:
    return attempt(Shell(), an_assignment(folder, command=command, **more))


def test_the_summary_is_the_last_line_with_anything_on_it(tmp_path: Path) -> None:
    outcome = ran(tmp_path, r"echo first; printf '\033[32m  built 3 files \033[0m\n\n'; echo careful >&2")
    assert isinstance(outcome, Done)
    assert (outcome.summary, outcome.artifacts) == ("built 3 files", ())


def test_errors_are_the_summary_only_if_there_is_nothing_else(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "echo wrote it >&2")
    assert isinstance(outcome, Done)
    assert outcome.summary == "wrote it"


def test_silence_is_success_too(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "true")
    assert isinstance(outcome, Done)
    assert outcome.summary == "the command succeeded: true"


def test_a_command_leaves_no_compiled_modules_that_would_land_with_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    importing = 'import sys; sys.path.insert(0, ""); import greet'
    command = f"echo x = 1 > greet.py && {shlex.quote(sys.executable)} -c {shlex.quote(importing)}"
    assert isinstance(ran(tmp_path, command), Done)
    assert list(tmp_path.rglob("greet.py"))
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_summary_is_never_long(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "head -c 100000 /dev/zero | tr '\\0' x")
    assert isinstance(outcome, Done)
    assert len(outcome.summary) == 500


@pytest.mark.parametrize(
    ("command", "kind", "words", "taught"),
    [
        ("echo no; exit 3", Failed, "exit 3 after", True),
        ("exit 3", Failed, "it printed nothing", True),
        ("no-such-command-anywhere", Failed, "exit 127: command not found", False),
        ("./plain", Failed, "exit 126: the command is not executable", False),
        ("kill -SEGV $$", Crashed, "killed by SIGSEGV", False),
        ("sh -c 'kill -KILL $$'; exit $?", Crashed, "exit 137: killed by SIGKILL", False),
        ("if", Failed, "exit 2", True),
        ("  ", Failed, "the command is blank", False),
    ],
)
def test_every_way_to_fail_is_told_in_words(
    tmp_path: Path, command: str, kind: type[Failed | Crashed], words: str, taught: bool
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "plain").write_text("echo")
    outcome = ran(tmp_path, command)
    assert isinstance(outcome, kind)
    assert words in outcome.reason
    assert outcome.taught == taught


def test_the_reason_holds_the_end_of_the_output_and_not_all_of_it(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "seq 100000; echo the end; exit 1")
    assert isinstance(outcome, Failed)
    assert outcome.reason.endswith("99999\n100000\nthe end")
    assert len(outcome.reason) < 1200


def test_there_is_no_input_to_wait_for(tmp_path: Path) -> None:
    assert isinstance(ran(tmp_path, "cat"), Done)


def test_names_from_the_configuration_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "wanted")
    outcome = attempt(Shell(pass_env=("MY_*",)), an_assignment(tmp_path, command="echo $MY_TOKEN"))
    assert isinstance(outcome, Done)
    assert outcome.summary == "wanted"


def test_what_the_shell_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AotError, match="needs a `run`"):
        attempt(Shell(), an_assignment(tmp_path))
    with pytest.raises(AotError, match="it is no probe"):
        ran(tmp_path, "true", role="probe")


def test_a_folder_that_is_not_there_is_nobodys_failed_attempt(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="there is no folder"):
        ran(tmp_path, "true", cwd=tmp_path / "gone")
