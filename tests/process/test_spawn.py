"""A process sees what its description gives it, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from aotloop.process.spawn import Process, start
from aotloop.process.spec import ProcessSpec
from tests.patience import PATIENCE


def started(folder: Path, *argv: str, **more: Any) -> Process:
    values: dict[str, Any] = {"cwd": folder, "env": {"PATH": os.environ["PATH"]}, "mark": "TEST_MARK"}
    return start(ProcessSpec(argv=argv, **{**values, **more}))


def output(process: Process) -> str:
    """Of a process that prints little."""
    assert process.wait(PATIENCE)
    read = {name: pipe.read() for name, pipe in process.outputs.items()}
    for pipe in process.outputs.values():
        pipe.close()
    return read["stdout"].decode()


def test_it_sees_its_environment_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "x")
    process = started(tmp_path, "/usr/bin/env", env={"ONLY": "this"})
    assert sorted(output(process).splitlines()) == ["ONLY=this", f"TEST_MARK={process.mark}"]


def test_one_without_a_mark_sees_its_environment_alone(tmp_path: Path) -> None:
    process = started(tmp_path, "/usr/bin/env", env={"ONLY": "this"}, mark=None)
    assert (output(process), process.mark) == ("ONLY=this\n", None)


def test_it_leads_a_session_of_its_own(tmp_path: Path) -> None:
    process = started(tmp_path, "sleep", "0.2")
    assert os.getsid(process.pid) == process.pid != os.getsid(0)
    output(process)


def test_it_reads_its_input_from_a_file_nobody_else_can_find(tmp_path: Path) -> None:
    assert output(started(tmp_path, "cat", stdin="grün".encode())) == "grün"
    assert list(tmp_path.iterdir()) == []


def test_it_can_stay_in_our_session(tmp_path: Path) -> None:
    process = started(tmp_path, "sleep", "0.2", own_session=False)
    assert os.getsid(process.pid) == os.getsid(0)
    output(process)


def test_both_streams_can_be_one(tmp_path: Path) -> None:
    process = started(tmp_path, "sh", "-c", "echo one; echo two >&2; echo three", stderr="stdout")
    assert list(process.outputs) == ["stdout"]
    assert output(process) == "one\ntwo\nthree\n"


def test_a_descriptor_that_it_holds_stays_open_in_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    process = started(tmp_path, "sh", "-c", f"echo held > /dev/fd/{writing}", held=(writing,))
    os.close(writing)
    output(process)
    assert os.read(reading, 100) == b"held\n"
    os.close(reading)


def test_what_cannot_be_started_raises_what_the_system_says(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        started(tmp_path, "no-such-program")
    with pytest.raises(ValueError, match="null byte"):
        started(tmp_path, "true", "a\0b")
