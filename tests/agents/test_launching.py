"""What is started sees what it is given; what cannot be started says why."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.launching import MARK, Launch, start
from aotloop.errors import Unavailable


def started(folder: Path, *argv: str, **more: Any) -> subprocess.Popen[bytes]:
    values: dict[str, Any] = {"cwd": folder, "env": {"PATH": os.environ["PATH"]}, "transcript": folder / "t"}
    return start(Launch(argv=argv, **{**values, **more}), "the-mark")


def output(process: subprocess.Popen[bytes]) -> str:
    return process.communicate()[0].decode()


def test_it_sees_its_environment_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "x")
    lines = output(started(tmp_path, "/usr/bin/env", env={"ONLY": "this"})).splitlines()
    assert sorted(lines) == [f"{MARK}=the-mark", "ONLY=this"]


def test_it_leads_a_session_of_its_own(tmp_path: Path) -> None:
    process = started(tmp_path, "sleep", "0.2")
    assert os.getsid(process.pid) == process.pid != os.getsid(0)
    output(process)


def test_it_reads_its_input_from_a_file_nobody_else_can_find(tmp_path: Path) -> None:
    assert output(started(tmp_path, "cat", stdin="grün")) == "grün"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "more", "why"),
    [
        (("no-such-program",), {}, "there is no program no-such-program"),
        (("./plain",), {}, "Permission denied"),
        (("true", "a\0b"), {}, "embedded null byte"),
        (("true", "x" * 5_000_000), {}, "its arguments are too long"),
        (("true",), {"cwd": Path("/no/such/folder")}, "there is no folder /no/such/folder"),
        (("true", "\ud800"), {}, "surrogates not allowed"),
    ],
)
def test_what_cannot_be_started_says_why(tmp_path: Path, argv: tuple[str, ...], more: dict[str, Any], why: str) -> None:
    (tmp_path / "plain").write_text("echo")
    with pytest.raises(Unavailable, match=why):
        started(tmp_path, *argv, **more)
