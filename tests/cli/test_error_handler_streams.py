"""Pipes that close, disks that are full, locales that know few letters: no bug, and no false success."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import spawn
from tests.loops import a_loop, atom, write_loop
from tests.warm import COMMAND


def test_a_reader_who_leaves_is_no_error_and_no_success(project: Path) -> None:
    write_loop(project, a_loop(*(atom(f"A{number}", description="x" * 200) for number in range(2000))))
    for words in ("atom list", "graph", "status --json", "nope --json"):
        done = subprocess.run(
            ["bash", "-c", f"'{COMMAND}' {words} | true; exit ${{PIPESTATUS[0]}}"], capture_output=True, check=False
        )
        assert done.returncode == (2 if words.startswith("nope") else 141), words
        assert b"Traceback" not in done.stderr
        assert b"BrokenPipe" not in done.stderr


def test_a_reader_of_messages_who_leaves_changes_no_exit_code(project: Path) -> None:
    """Seen: exit code 120, which is Python's own, of `aot watch 2>&1 | head` and of a mistake."""
    write_loop(project, a_loop(atom("A1")))
    for words, code in ((["status"], 141), (["nope"], 2)):
        reading, writing = os.pipe()
        os.close(reading)
        with subprocess.Popen([COMMAND, *words], stdout=writing, stderr=writing) as process:
            os.close(writing)
        assert process.returncode == code, words


def test_the_head_of_a_long_list_can_be_taken(project: Path) -> None:
    write_loop(project, a_loop(*(atom(f"A{number}") for number in range(2000))))
    done = subprocess.run(
        ["bash", "-c", f"'{COMMAND}' atom list | head -2"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["○ A0     do A0  ready", "○ A1     do A1  ready"]


TOLD = "aot: the output: No space left on device\n     Free some space on the disk, then try again.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told_with_what_to_do(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    for words in (["status"], ["status", "--json"], ["--help"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, TOLD)


def test_closed_streams_are_no_bug(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-", "--json >&-"):
        done = subprocess.run(
            ["bash", "-c", f"'{COMMAND}' status {closed}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, closed
        assert "bug" not in done.stderr


def test_a_poor_locale_is_no_bug(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", description="日本 é")))
    poor = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ran = spawn("atom", "list", environ=poor)
    assert ran.code == 0
    assert "A1" in ran.out
    environ = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([COMMAND, "atom", "list"], env=environ, capture_output=True, check=True)
    assert "A1  \\u65e5\\u672c é  ready" in done.stdout.decode("latin-1")
