"""Who belongs to an attempt is found and killed; nobody else is."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from aotloop.process.process_group import ProcessGroup, kill_orphans
from tests.agents.assignments import LINUX, all_dead
from tests.checks.proofs import written_pid
from tests.patience import FOREVER, PATIENCE, until

pytestmark = pytest.mark.skipif(not LINUX, reason="only Linux shows the environment of others")


def orphan(folder: Path, run_id: str, name: str) -> int:
    """A process whose parent has ended and whose session is its own."""
    env = {"PATH": os.environ["PATH"], "AOT_RUN_ID": run_id}
    command = f"trap '' TERM; echo $$ > {name}; while :; do sleep 0.1; done"
    subprocess.run(["sh", "-c", 'setsid sh -c "$1" >/dev/null 2>&1 &', "_", command], cwd=folder, env=env, check=True)
    return written_pid(folder / name)


def test_orphans_of_a_run_are_killed_and_those_of_others_spared(tmp_path: Path) -> None:
    ours, others = orphan(tmp_path, "run-7", "ours"), orphan(tmp_path, "run-77", "others")
    try:
        kill_orphans("run-7", grace=0.1)
        assert all_dead([ours])
        assert not all_dead([others])
    finally:
        kill_orphans("run-77", grace=0)
    assert all_dead([others])


def test_where_there_are_no_orphans_nothing_is_done() -> None:
    assert not kill_orphans("run-of-nobody", grace=FOREVER)


def test_we_and_those_who_started_us_are_spared(tmp_path: Path) -> None:
    importing = "from aotloop.process.process_group import kill_orphans"
    program = f"{importing}\nkill_orphans('run-8', grace=0)\nopen('alive', 'w').close()\n"
    (tmp_path / "program.py").write_text(program)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), "AOT_RUN_ID": "run-8"}
    done = subprocess.run(
        ["sh", "-c", '"$1" program.py; true', "_", sys.executable], cwd=tmp_path, env=env, check=False
    )
    assert done.returncode == 0
    assert (tmp_path / "alive").exists()


def test_hurry_ends_the_grace(tmp_path: Path) -> None:
    command = "trap 'touch asked' TERM; echo $$ > pid; while :; do sleep 0.1; done"
    leader = subprocess.Popen(["sh", "-c", command], cwd=tmp_path, start_new_session=True)
    written_pid(tmp_path / "pid")
    hurry = threading.Event()
    killing = threading.Thread(target=ProcessGroup("no-mark", leader).kill, args=(FOREVER, hurry))
    killing.start()
    until((tmp_path / "asked").exists, "it was not asked to end")
    assert killing.is_alive()
    assert leader.poll() is None
    hurry.set()
    killing.join(PATIENCE)
    assert not killing.is_alive()
    assert leader.poll() == -9


def test_nothing_is_left_of_what_has_ended(tmp_path: Path) -> None:
    leader = subprocess.Popen(["sh", "-c", "exit 0"], cwd=tmp_path, start_new_session=True)
    leader.wait()
    until(lambda: not ProcessGroup("no-mark", leader).anything_left(), "something is left")
