"""A process that a thread follows: what comes back, what is left, and what Ctrl-C does. See also tests/verify."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from aotloop.process.blocking_run import run
from aotloop.process.cancellation import Cancellation
from aotloop.process.output import Whole
from aotloop.process.spec import Ending, Limits, ProcessSpec
from tests.checks.proofs import has_ended, is_dead, written_pid
from tests.patience import FOREVER, PATIENCE, shell_until, until, with_time_enough


def spec(folder: Path, command: str, **more: Any) -> ProcessSpec:
    return ProcessSpec(argv=("/bin/sh", "-c", command), cwd=folder, env={"PATH": os.environ["PATH"]}, **more)


# --- what comes back ---------------------------------------------------------------------------------------------


def test_both_streams_come_back_whole_and_apart(tmp_path: Path) -> None:
    out, err = Whole(), Whole()
    command = "head -c 3000000 /dev/zero; echo words >&2; head -c 3000000 /dev/zero >&2; exit 3"
    completed = run(spec(tmp_path, command), out=out, err=err)
    assert (completed.status, completed.exit_code, completed.signal) == (3, 3, None)
    assert (len(out.data()), len(err.data())) == (3_000_000, 3_000_006)


def test_all_that_a_process_wrote_is_there_although_nobody_lingers(tmp_path: Path) -> None:
    out = Whole()
    written = f"head -c 60000 /dev/zero; sleep {FOREVER} & echo $! > pid"
    completed = run(spec(tmp_path, written, ending=Ending(clears=False)), out=out)
    assert (completed.status, len(out.data())) == (0, 60_000)
    os.kill(written_pid(tmp_path / "pid"), signal.SIGKILL)


def test_input_of_any_size_is_given_and_need_not_be_read(tmp_path: Path) -> None:
    out = Whole()
    assert run(spec(tmp_path, "wc -c", stdin=b"x" * 3_000_000), out=out).status == 0
    assert int(out.text()) == 3_000_000
    assert run(spec(tmp_path, "exit 4", stdin=b"x" * 3_000_000)).status == 4


def test_a_signal_is_a_negative_status(tmp_path: Path) -> None:
    completed = run(spec(tmp_path, "kill -SEGV $$"))
    assert (completed.status, completed.exit_code, completed.signal) == (-11, None, 11)


def test_what_cannot_be_started_is_raised_from_the_main_thread_and_from_others(tmp_path: Path) -> None:
    missing = ProcessSpec(argv=("no-such-program",), cwd=tmp_path, env={})
    with pytest.raises(FileNotFoundError):
        run(missing)
    raised: list[BaseException] = []

    def work() -> None:
        try:
            run(missing)
        except OSError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert isinstance(raised[0], FileNotFoundError)


def test_silence_can_be_limited(tmp_path: Path) -> None:
    def spoken(limit: float) -> bool:
        command = f"for i in 1 2 3 4 5 6; do sleep {limit / 3}; echo .; done"
        return run(spec(tmp_path, command, limits=Limits(start_up=limit, inactivity=limit))).status == 0

    assert with_time_enough(spoken, lambda is_over: is_over)
    silent = run(spec(tmp_path, f"echo .; sleep {FOREVER}", limits=Limits(inactivity=0.3)))
    assert silent.expiry is not None
    assert "printed nothing for 0.3 s" in silent.expiry.reason


# --- what is left ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reach", ["process", "group", "tree"])
def test_what_is_left_after_a_normal_end_stays_unless_it_is_to_be_cleared(tmp_path: Path, reach: Any) -> None:
    command = f"sleep {FOREVER} >/dev/null 2>&1 & echo $! > pid"
    assert run(spec(tmp_path, command, ending=Ending(reach=reach, clears=False))).status == 0
    pid = written_pid(tmp_path / "pid")
    assert not is_dead(pid)
    os.kill(pid, signal.SIGKILL)
    assert has_ended(pid)


def test_a_group_is_cleared_but_not_a_server_that_left_it(tmp_path: Path) -> None:
    server = f"setsid sh -c 'echo $$ > server; exec sleep {FOREVER}' >/dev/null 2>&1 &"
    command = f"{server} sleep {FOREVER} & echo $! > child; {shell_until('test -s server')}"
    assert run(spec(tmp_path, command, ending=Ending(grace=0, reach="group"))).status == 0
    assert has_ended(written_pid(tmp_path / "child"))
    server_pid = written_pid(tmp_path / "server")
    assert not is_dead(server_pid)
    os.kill(server_pid, signal.SIGKILL)


def test_one_that_has_to_end_and_has_no_mark_takes_only_its_own_along(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", str(FOREVER)])
    try:
        command = f"sleep {FOREVER} & echo $! > pid; wait"
        completed = with_time_enough(
            lambda limit: run(spec(tmp_path, command, limits=Limits(total=limit), ending=Ending(clears=False))),
            lambda _: (tmp_path / "pid").exists(),
        )
        assert completed.status is None
        assert completed.expiry is not None
        assert has_ended(written_pid(tmp_path / "pid"))
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_one_that_ignores_the_polite_signal_is_killed_when_its_grace_is_over(tmp_path: Path) -> None:
    command = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done"
    for reach in ("process", "group", "tree"):
        cancellation = Cancellation()
        ending = Ending(grace=0.1, reach=reach, clears=False)

        def cancel(cancellation: Cancellation = cancellation) -> None:
            written_pid(tmp_path / "pid")
            cancellation.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        completed = run(spec(tmp_path, command, ending=ending), cancellation=cancellation)
        thread.join()
        assert (completed.status, completed.cancelled) == (None, True)
        assert has_ended(written_pid(tmp_path / "pid"))
        (tmp_path / "pid").unlink()


# --- Ctrl-C in the main thread -----------------------------------------------------------------------------------

_PROGRAM = """
import os, sys
from aotloop.process.blocking_run import run
from aotloop.process.spec import Ending, ProcessSpec
command = "echo $$ > pid; while ! test -e go; do sleep 0.05; done; touch finished"
run(ProcessSpec(argv=("/bin/sh", "-c", command), env=dict(os.environ), ending=Ending(interrupt=sys.argv[1])))
"""


def interrupted(folder: Path, interrupt: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", _PROGRAM, interrupt]
    process = subprocess.Popen(argv, cwd=folder, env=env, stderr=subprocess.PIPE)
    written_pid(folder / "pid")
    process.send_signal(signal.SIGINT)
    return process


def test_an_interrupt_ends_the_process(tmp_path: Path) -> None:
    process = interrupted(tmp_path, "end")
    assert b"KeyboardInterrupt" in process.communicate(timeout=PATIENCE)[1]
    assert has_ended(written_pid(tmp_path / "pid"))
    assert not (tmp_path / "finished").exists()


def test_an_interrupt_can_wait_until_the_process_has_finished(tmp_path: Path) -> None:
    process = interrupted(tmp_path, "finish")
    assert not is_dead(written_pid(tmp_path / "pid"))
    (tmp_path / "go").touch()
    assert b"KeyboardInterrupt" in process.communicate(timeout=PATIENCE)[1]
    until((tmp_path / "finished").exists)


def test_a_second_interrupt_ends_also_one_that_was_to_finish(tmp_path: Path) -> None:
    process = interrupted(tmp_path, "finish")

    def again() -> bool:
        process.send_signal(signal.SIGINT)  # two signals that come at once may be told as one
        return process.poll() is not None

    until(again)
    assert b"KeyboardInterrupt" in process.communicate(timeout=PATIENCE)[1]
    assert has_ended(written_pid(tmp_path / "pid"))
    assert not (tmp_path / "finished").exists()


def test_handlers_of_the_caller_are_as_they_were_and_called_in_the_end(tmp_path: Path) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    ours = signal.getsignal(signal.SIGTERM)
    try:
        completed = run(spec(tmp_path, f"kill -TERM $PPID; sleep {FOREVER}"))
        assert (completed.cancelled, seen) == (True, [signal.SIGTERM])
        assert signal.getsignal(signal.SIGTERM) is ours
    finally:
        signal.signal(signal.SIGTERM, before)


# --- its own cost ------------------------------------------------------------------------------------------------


def test_neither_asyncio_nor_ctypes_nor_psutil_is_loaded_for_it() -> None:
    program = (
        "import os, sys; from aotloop.process.blocking_run import run; from aotloop.process.spec import ProcessSpec; "
        "assert run(ProcessSpec(argv=('true',), env=dict(os.environ), mark='M')).status == 0; "
        "print({'asyncio', 'ctypes', 'psutil', 'logging', 'tempfile'} & set(sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True)
    assert done.stdout == b"set()\n"
