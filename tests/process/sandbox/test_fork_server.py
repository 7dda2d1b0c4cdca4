"""One server starts all commands of a run below reapers. It can be killed, and nothing is lost or gets away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.checks.command_check import check_command
from aotloop.process import process_table
from aotloop.process.process_group import kill_orphans
from aotloop.process.sandbox import fork_server
from tests.agents.assignments import LINUX
from tests.patience import PATIENCE, until

pytestmark = pytest.mark.skipif(not LINUX, reason="only Linux has reapers")


def server_of(folder: Path) -> int:
    """The parent of the reaper of a check."""
    (folder / "server").unlink(missing_ok=True)
    assert check_command('cut -d" " -f4 /proc/$PPID/stat > server', root=folder).passed
    return int((folder / "server").read_text())


def test_all_commands_have_one_server(tmp_path: Path) -> None:
    first = server_of(tmp_path)
    assert server_of(tmp_path) == first
    assert process_table.parent_of(first) == os.getpid()


def test_a_killed_server_is_replaced(tmp_path: Path) -> None:
    before = server_of(tmp_path)
    os.kill(before, signal.SIGKILL)
    later = {server_of(tmp_path), server_of(tmp_path)} - {before}
    assert later
    assert check_command("exit 0", root=tmp_path).passed


def test_a_command_that_kills_its_reaper_fails_and_leaves_nothing(tmp_path: Path) -> None:
    """What it started is below the server then, which kills it."""
    daemon = "env -i setsid sh -c 'echo $$ > pid; sleep 1000' >/dev/null 2>&1 &"
    result = check_command(f"{daemon} while ! test -s pid; do sleep 0.01; done; kill -9 $PPID", root=tmp_path)
    assert not result.passed
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not Path(f"/proc/{pid}").exists(), "the daemon outlives its check")


def test_a_server_ends_with_its_run_and_with_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AOT_RUN_ID", "run-of-a-test")
    server = server_of(tmp_path)
    kill_orphans("run-of-a-test", grace=0)
    assert not Path(f"/proc/{server}").exists()
    program = (
        "import sys; from pathlib import Path\n"
        "from aotloop.checks.command_check import check_command\n"
        "check_command('cut -d\" \" -f4 /proc/$PPID/stat > server', root=Path(sys.argv[1]))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert not Path(f"/proc/{(tmp_path / 'server').read_text().strip()}").exists()


def test_a_server_ends_although_a_forked_copy_of_us_lives(tmp_path: Path) -> None:
    program = (
        "import os, sys, time; from pathlib import Path\n"
        "from aotloop.checks.command_check import check_command\n"
        "check_command(':', root=Path(sys.argv[1]))\n"
        "if os.fork() == 0: os.close(1); time.sleep(1000)\n"
        "print('forked', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], start_new_session=True, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.wait(PATIENCE) == 0
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_command_whose_caller_is_gone_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = server_of(tmp_path)
    os.kill(server, signal.SIGSTOP)
    monkeypatch.setattr(fork_server, "_LONGEST_START", 0.05)
    passed = [check_command("echo x >> started", root=tmp_path).passed for _ in range(3)]
    monkeypatch.undo()
    passed.append(check_command("echo x >> started", root=tmp_path).passed)
    assert passed[-1]
    assert (tmp_path / "started").read_text() == "x\n" * passed.count(True)
