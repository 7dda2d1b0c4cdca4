"""Real processes: whatever one does, `run` comes back and leaves nothing behind. See conformance.py for the rest."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.contract import Limits
from aotloop.agents.launching import MARK, Launch
from aotloop.agents.processes import Ran, run
from tests.agents.assignments import LINUX, all_dead, until_written
from tests.verify.proofs import PATIENCE, is_dead, written_pid


def launch(folder: Path, command: str, **more: Any) -> Launch:
    values: dict[str, Any] = {"env": {"PATH": os.environ["PATH"]}, "transcript": folder / "transcript.jsonl"}
    return Launch(argv=("/bin/sh", "-c", command), cwd=folder, **{**values, **more})


def ran(folder: Path, command: str, **more: Any) -> Ran:
    return asyncio.run(run(launch(folder, command, **more), lambda _: None))


# --- what comes back ---------------------------------------------------------------------------------------------


def test_streams_are_kept_apart_and_together(tmp_path: Path) -> None:
    result = ran(tmp_path, "echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three; exit 3")
    assert (result.stdout, result.stderr) == ("one\nthree\n", "two\n")
    assert result.output == "one\ntwo\nthree\n"
    assert (result.exit_code, result.signal, result.timed_out, result.ending) == (3, None, None, "exit 3")


def test_a_signal_is_not_an_exit_code(tmp_path: Path) -> None:
    result = ran(tmp_path, "kill -TERM $$")
    assert (result.exit_code, result.signal, result.ending) == (None, 15, "killed by SIGTERM")


def test_a_last_writer_may_finish_its_line(tmp_path: Path) -> None:
    assert ran(tmp_path, "(sleep 0.02; echo late) & echo early").stdout == "early\nlate\n"


def test_who_closed_its_output_is_still_waited_for(tmp_path: Path) -> None:
    assert ran(tmp_path, "exec >&- 2>&-; sleep 0.3; exit 5").exit_code == 5
    assert ran(tmp_path, "exec >&- 2>&-; sleep 60", limits=Limits(total=0.3)).timed_out is not None


def test_a_line_without_newline_at_the_end_is_a_line(tmp_path: Path) -> None:
    lines: list[str] = []
    asyncio.run(run(launch(tmp_path, "printf 'one\ntwo'"), lines.append))
    assert lines == ["one", "two"]


def test_input_is_what_was_given_and_then_ends(tmp_path: Path) -> None:
    assert ran(tmp_path, "cat; cat", stdin="words\n").stdout == "words\n"
    assert ran(tmp_path, "cat").stdout == ""


# --- limits ------------------------------------------------------------------------------------------------------


def test_output_of_either_kind_is_a_sign_of_life(tmp_path: Path) -> None:
    command = "for i in 1 2 3 4 5; do sleep 0.4; echo . >&2; done"
    assert ran(tmp_path, command, limits=Limits(start_up=1.5, inactivity=1.5)).exit_code == 0


def test_a_flood_without_end_is_stopped(tmp_path: Path) -> None:
    result = ran(tmp_path, "yes", limits=Limits(total=0.5))
    assert result.timed_out is not None
    assert result.seconds < PATIENCE


def test_others_get_their_turn_during_a_flood(tmp_path: Path) -> None:
    async def both() -> list[float]:
        flood = asyncio.create_task(run(launch(tmp_path, "yes", limits=Limits(total=2)), lambda _: None))
        waits = []
        while not flood.done():
            begun = time.monotonic()
            await asyncio.sleep(0.01)
            waits.append(time.monotonic() - begun)
        return waits

    waits = asyncio.run(both())
    assert sorted(waits)[len(waits) // 2] < 0.5


def test_who_ends_by_itself_during_the_grace_has_timed_out_nevertheless(tmp_path: Path) -> None:
    result = ran(tmp_path, "trap 'exit 0' TERM; while :; do sleep 0.02; done", limits=Limits(total=0.3), grace=60)
    assert result.timed_out is not None
    assert result.exit_code is None
    assert result.seconds < PATIENCE


# --- nothing is left ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(not LINUX, reason="only by its environment")
def test_a_daemon_does_not_outlive_a_process_that_ended_well(tmp_path: Path) -> None:
    daemon = "import os, sys, time; os.setsid(); open('pid','w').write(f'{os.getpid()}\\n'); time.sleep(60)"
    command = f"({shlex.quote(sys.executable)} -c {shlex.quote(daemon)} >/dev/null 2>&1 </dev/null &)"
    assert ran(tmp_path, f"{command}; while [ ! -s pid ]; do sleep 0.01; done").exit_code == 0
    assert is_dead(written_pid(tmp_path / "pid"))


def test_a_child_with_its_own_session_and_an_empty_environment_dies_with_its_parent(tmp_path: Path) -> None:
    program = "import os,time; os.setsid(); open('pid','w').write(f'{os.getpid()}\\n'); time.sleep(60)"
    command = f"env -i {shlex.quote(sys.executable)} -c {shlex.quote(program)} & sleep 60"
    assert ran(tmp_path, command, limits=Limits(total=2)).timed_out is not None
    assert is_dead(written_pid(tmp_path / "pid"))


@pytest.mark.skipif(not LINUX, reason="a session can be looked through only there")
def test_who_left_the_group_but_not_the_session_dies_without_a_mark_and_without_a_parent(tmp_path: Path) -> None:
    program = "import os,time; os.setpgid(0, 0); open('pid','w').write(f'{os.getpid()}\\n'); time.sleep(60)"
    command = f"(env -i {shlex.quote(sys.executable)} -c {shlex.quote(program)} >/dev/null 2>&1 </dev/null &)"
    assert ran(tmp_path, f"{command}; while [ ! -s pid ]; do sleep 0.01; done").exit_code == 0
    assert is_dead(written_pid(tmp_path / "pid"))


def test_processes_that_keep_forking_are_all_caught(tmp_path: Path) -> None:
    fork = "while :; do (setsid sh -c 'trap \"\" TERM; while :; do date +%N >> ticks; done' &) ; sleep 0.1; done"
    assert ran(tmp_path, fork, limits=Limits(total=0.6), grace=0.2).timed_out is not None
    size = (tmp_path / "ticks").stat().st_size
    time.sleep(0.3)
    assert (tmp_path / "ticks").stat().st_size == size


def test_a_grandchild_that_floods_the_output_does_not_hold_up_the_end(tmp_path: Path) -> None:
    result = ran(tmp_path, "yes & echo $! > pid; exit 4")
    assert result.exit_code == 4
    assert result.seconds < PATIENCE
    assert is_dead(written_pid(tmp_path / "pid"))


def test_the_end_is_noticed_where_the_system_does_not_tell_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)  # as on macOS
    result = ran(tmp_path, "sleep 60 & echo done; exit 6")
    assert (result.exit_code, result.stdout) == (6, "done\n")
    assert result.seconds < PATIENCE
    assert ran(tmp_path, "sleep 60", limits=Limits(total=0.2)).timed_out is not None


def test_cancelling_many_at_once_takes_no_longer_than_cancelling_one(tmp_path: Path) -> None:
    async def cancelled(count: int) -> float:
        files = [tmp_path / f"{count}-{number}" for number in range(count)]
        commands = [f"trap '' TERM; echo $$ > {file.name}; while :; do sleep 0.1; done" for file in files]
        tasks = [asyncio.create_task(run(launch(tmp_path, one, grace=0.5), lambda _: None)) for one in commands]
        pids = await until_written(files)
        asked = time.monotonic()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        took = time.monotonic() - asked
        assert all_dead(pids)
        assert all(task.cancelled() for task in tasks)
        return took

    one = asyncio.run(cancelled(1))
    eight = asyncio.run(cancelled(8))
    assert eight < 4 * one


def test_a_cancellation_while_the_last_are_killed_is_not_lost(tmp_path: Path) -> None:
    async def cancelled() -> list[int]:
        command = "(trap '' TERM; while :; do sleep 0.1; done) & echo $! > pid; sleep 0.3; exit 0"
        task = asyncio.create_task(run(launch(tmp_path, command, grace=600), lambda _: None))
        pids = await until_written([tmp_path / "pid"])
        await asyncio.sleep(1)
        assert not task.done(), "it has ended, but its child has the grace"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pids

    assert all_dead(asyncio.run(cancelled()))


def test_a_surrounding_limit_of_asyncio_works_as_usual(tmp_path: Path) -> None:
    async def limited() -> None:
        async with asyncio.timeout(0.3):
            await run(launch(tmp_path, "sleep 60"), lambda _: None)

    with pytest.raises(TimeoutError):
        asyncio.run(limited())


def test_an_attempt_within_an_attempt_carries_both_marks(tmp_path: Path) -> None:
    inner = ran(tmp_path, f"echo ${MARK}", env={"PATH": os.environ["PATH"], MARK: "outer"}).stdout
    assert inner.startswith("outer:")
    assert len(inner.strip()) > len("outer:") + 30


def test_who_leaves_nothing_behind_does_not_load_psutil(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from aotloop.agents.launching import Launch
from aotloop.agents.processes import run
launch = Launch(argv=("true",), cwd=Path(), env={{}}, transcript=Path({str(tmp_path / "t")!r}))
assert asyncio.run(run(launch, print)).exit_code == 0
print("psutil" in sys.modules)
"""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"
    assert ran(tmp_path, command, env=env).stdout == "False\n"
