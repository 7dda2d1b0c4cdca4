"""Real processes: whatever a command does, `run` comes back, in bounded memory, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from aotloop.checks import command_check
from aotloop.checks.command_check import Outcome, run
from aotloop.process.cancellation import Cancellation
from aotloop.process.environment import CHECK_MARK
from aotloop.process.output import HEAD_BYTES, TAIL_BYTES
from aotloop.process.spec import Ending
from tests.checks.proofs import has_ended, is_dead, python, written_pid
from tests.patience import FOREVER, PATIENCE, shell_until, until, with_time_enough

LINUX = sys.platform == "linux"
LONG = PATIENCE

DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
null = os.open(os.devnull, os.O_RDWR)
for stream in (0, 1, 2): os.dup2(null, stream)
open(sys.argv[1], "w").write(f"{os.getpid()}\\n")
time.sleep(3600)
"""


def ran(command: str, cwd: Path, timeout: float = LONG) -> Outcome:
    return run(command, cwd=cwd, timeout=timeout)


def hung(command: str, cwd: Path) -> Outcome:
    """Of a command that hangs for ever once it has made the file "begun": what came of it when its time was up."""
    return with_time_enough(lambda limit: ran(command, cwd, limit), lambda _: (cwd / "begun").exists())


# --- what comes back ---------------------------------------------------------------------------------------


def test_output_and_errors_come_back_together_in_order(tmp_path: Path) -> None:
    outcome = ran("echo one; echo two >&2; echo three; exit 3", tmp_path)
    assert (outcome.exit_code, outcome.output) == (3, "one\ntwo\nthree\n")
    assert (outcome.signal, outcome.timed_out, outcome.cancelled, outcome.problem) == (
        None,
        False,
        False,
        None,
    )
    assert outcome.duration > 0


def test_the_command_runs_in_the_given_directory_with_the_given_environment(tmp_path: Path) -> None:
    outcome = run('pwd -P; echo "$COLOUR $HOME"', cwd=tmp_path, timeout=LONG, env={"COLOUR": "grün", "HOME": "/there"})
    assert outcome.output.splitlines() == [str(tmp_path.resolve()), "grün /there"]


def test_there_is_no_input_to_wait_for(tmp_path: Path) -> None:
    assert ran("cat", tmp_path).exit_code == 0


def test_death_by_a_signal_is_not_an_exit_code(tmp_path: Path) -> None:
    outcome = ran("kill -SEGV $$", tmp_path)
    assert (outcome.exit_code, outcome.signal) == (None, signal.SIGSEGV)


def test_invalid_utf8_is_replaced(tmp_path: Path) -> None:
    assert ran(r"printf 'a\377b'", tmp_path).output == "a�b"


@pytest.mark.parametrize(
    ("command", "folder", "problem"),
    [
        ("echo a\0b", ".", "the command contains a NUL character"),
        ("true", "missing", "there is no directory"),
        ("true", "file", "there is no directory"),
        ("echo \ud800", ".", "surrogates not allowed"),
        (f"true {'x' * 5_000_000}", ".", "Argument list too long"),
    ],
)
def test_what_cannot_be_started_is_an_outcome_and_not_an_exception(
    tmp_path: Path, command: str, folder: str, problem: str
) -> None:
    (tmp_path / "file").touch()
    outcome = ran(command, tmp_path / folder)
    assert outcome.problem is not None
    assert problem in outcome.problem
    assert outcome.exit_code is None


def test_parsing_only_executes_nothing(tmp_path: Path) -> None:
    outcome = run("touch made", cwd=tmp_path, timeout=LONG, parse_only=True)
    assert outcome.exit_code == 0
    assert not (tmp_path / "made").exists()
    assert run("if", cwd=tmp_path, timeout=LONG, parse_only=True).exit_code


# --- output of any size ------------------------------------------------------------------------------------


def test_200_megabytes_of_output_stay_in_bounded_memory(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        outcome = ran("echo first; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo last", tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert outcome.exit_code == 0
    assert outcome.output.startswith("first\n")
    assert outcome.output.endswith("\nlast\n")
    total = 200_000_000 + len("first\n\nlast\n")
    assert f"[{total - HEAD_BYTES - TAIL_BYTES} bytes left out]" in outcome.output
    assert len(outcome.output) < HEAD_BYTES + TAIL_BYTES + 100
    assert peak < 5_000_000


def test_a_flood_without_end_is_stopped_by_the_time_out(tmp_path: Path) -> None:
    outcome = with_time_enough(lambda limit: ran("yes", tmp_path, limit), lambda flood: flood.output)
    assert outcome.timed_out
    assert outcome.output.startswith("y\ny\n")


def test_what_was_printed_before_the_time_out_is_kept(tmp_path: Path) -> None:
    outcome = hung(f"echo early; touch begun; sleep {FOREVER}", tmp_path)
    assert (outcome.output, outcome.timed_out) == ("early\n", True)


# --- nothing is left ---------------------------------------------------------------------------------------


def test_a_time_out_kills_grandchildren(tmp_path: Path) -> None:
    outcome = hung(f"sh -c 'sleep {FOREVER} & echo $! > pid; touch begun; wait' ; true", tmp_path)
    assert (outcome.timed_out, outcome.exit_code, outcome.signal) == (True, None, None)
    assert has_ended(written_pid(tmp_path / "pid"))


@pytest.mark.skipif(not LINUX, reason="a daemon is found by its environment, which only Linux shows")
def test_a_time_out_kills_a_daemon_that_left_the_session_and_lost_its_parent(tmp_path: Path) -> None:
    (tmp_path / "daemon.py").write_text(DAEMON)
    command = f"{sys.executable} daemon.py pid; {shell_until('test -s pid')}; touch begun; sleep {FOREVER}"
    assert hung(command, tmp_path).timed_out
    assert has_ended(written_pid(tmp_path / "pid"))


@pytest.mark.skipif(not LINUX, reason="a daemon is found by its environment, which only Linux shows")
def test_a_daemon_does_not_outlive_a_command_that_ended_well(tmp_path: Path) -> None:
    (tmp_path / "daemon.py").write_text(DAEMON)
    outcome = ran(f"{sys.executable} daemon.py pid; {shell_until('test -s pid')}", tmp_path)
    assert outcome.exit_code == 0
    assert has_ended(written_pid(tmp_path / "pid"))


def test_a_child_with_its_own_session_and_an_empty_environment_dies_with_its_parent(tmp_path: Path) -> None:
    program = "import os,time; os.setsid(); open('pid','w').write(f'{os.getpid()}\\n'); time.sleep(3600)"
    command = f"env -i {python(program)} & {shell_until('test -s pid')}; touch begun; sleep {FOREVER}"
    assert hung(command, tmp_path).timed_out
    assert has_ended(written_pid(tmp_path / "pid"))


def test_a_background_child_that_holds_the_pipe_does_not_hold_up_the_check(tmp_path: Path) -> None:
    outcome = ran(f"sleep {FOREVER} & echo $! > pid; echo done", tmp_path)
    assert (outcome.exit_code, outcome.output, outcome.timed_out) == (0, "done\n", False)
    assert has_ended(written_pid(tmp_path / "pid"))


def test_a_background_child_that_floods_the_pipe_does_not_hold_up_the_check(tmp_path: Path) -> None:
    outcome = ran("yes & echo $! > pid; exit 4", tmp_path)
    assert (outcome.exit_code, outcome.timed_out) == (4, False)
    assert has_ended(written_pid(tmp_path / "pid"))


def test_a_background_child_that_let_go_of_the_pipe_dies_too(tmp_path: Path) -> None:
    outcome = ran(f"sleep {FOREVER} >/dev/null 2>&1 & echo $! > pid", tmp_path)
    assert outcome.exit_code == 0
    assert has_ended(written_pid(tmp_path / "pid"))


def test_a_background_child_with_an_empty_environment_dies_too(tmp_path: Path) -> None:
    outcome = ran(f"env -i sleep {FOREVER} >/dev/null 2>&1 & echo $! > pid", tmp_path)
    assert outcome.exit_code == 0
    assert has_ended(written_pid(tmp_path / "pid"))


def test_a_last_writer_may_finish_its_line_after_the_shell_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_check, "_ENDING", Ending(linger=PATIENCE))
    ended = "! kill -0 $$ 2>/dev/null"
    assert ran(f"({shell_until(ended)}; echo late) & echo early", tmp_path).output == "early\nlate\n"


def test_who_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    command = "trap '' TERM; sh -c 'echo $$ > pid; touch begun; while :; do sleep 0.05; done'; true"
    assert hung(command, tmp_path).timed_out
    assert has_ended(written_pid(tmp_path / "pid"))


def test_who_heeds_the_polite_signal_may_tidy_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_check, "_ENDING", Ending(grace=PATIENCE))
    outcome = hung("trap 'echo tidied; touch tidy; exit 0' TERM; touch begun; while :; do sleep 0.02; done", tmp_path)
    assert outcome.timed_out
    assert (tmp_path / "tidy").exists()
    assert "tidied\n" in outcome.output


def test_processes_that_keep_forking_are_all_caught(tmp_path: Path) -> None:
    child = "trap '' TERM; echo $$ >> pids; test $(wc -l < pids) -lt 3 || touch begun; while :; do sleep 0.05; done"
    (tmp_path / "child.sh").write_text(child)
    assert hung("while :; do (setsid sh child.sh &) ; sleep 0.1; done", tmp_path).timed_out
    pids = [int(line) for line in (tmp_path / "pids").read_text().splitlines()]
    assert len(pids) >= 3
    assert all(map(is_dead, pids))


def test_a_command_that_closed_its_output_is_still_waited_for(tmp_path: Path) -> None:
    def let_go() -> None:
        until((tmp_path / "closed").exists)
        (tmp_path / "go").touch()

    go = threading.Thread(target=let_go)
    go.start()
    assert ran(f"exec >&- 2>&-; touch closed; {shell_until('test -e go')}; exit 5", tmp_path).exit_code == 5
    go.join()


def test_a_command_that_closed_its_output_still_times_out(tmp_path: Path) -> None:
    assert hung(f"exec >&- 2>&-; touch begun; sleep {FOREVER}", tmp_path).timed_out


def test_somebody_elses_process_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen(["/bin/sleep", str(FOREVER)])
    try:
        assert ran(f"sleep {FOREVER}", tmp_path, timeout=0.2).timed_out
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_check_within_a_check_carries_both_marks(tmp_path: Path) -> None:
    outer = run(f"echo ${CHECK_MARK}", cwd=tmp_path, timeout=LONG, env={CHECK_MARK: "outer"})
    assert outer.output.startswith("outer:")
    assert len(outer.output.strip()) > len("outer:") + 30


def test_the_end_of_a_shell_is_noticed_where_the_system_does_not_tell_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)  # as on macOS
    outcome = ran(f"sleep {FOREVER} & echo done; exit 6", tmp_path)
    assert (outcome.exit_code, outcome.output) == (6, "done\n")


# --- cancelling --------------------------------------------------------------------------------------------


def test_cancelling_kills_what_runs(tmp_path: Path) -> None:
    cancellation = Cancellation()
    outcomes: list[Outcome] = []

    def check() -> None:
        command = f"trap '' TERM; sleep {FOREVER} & echo $! > pid; wait; sleep {FOREVER}"
        outcomes.append(run(command, cwd=tmp_path, timeout=FOREVER, cancellation=cancellation))

    thread = threading.Thread(target=check)
    thread.start()
    pid = written_pid(tmp_path / "pid")
    cancellation.cancel()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert outcomes[0].cancelled
    assert not outcomes[0].timed_out
    assert has_ended(pid)


def test_who_cancels_does_not_wait_for_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_check, "_ENDING", Ending(grace=FOREVER))
    cancellation = Cancellation()
    command = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done"
    thread = threading.Thread(target=lambda: run(command, cwd=tmp_path, timeout=FOREVER, cancellation=cancellation))
    thread.start()
    pid = written_pid(tmp_path / "pid")
    cancellation.cancel()
    assert thread.is_alive()
    assert not is_dead(pid)
    os.kill(pid, signal.SIGKILL)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_nothing_starts_after_a_cancellation(tmp_path: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    outcome = run("touch made", cwd=tmp_path, timeout=LONG, cancellation=cancellation)
    assert outcome == Outcome(cancelled=True)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "call",
    [
        "from aotloop.checks.command_check import run; run(command, cwd=root, timeout=3600)",
        (
            "from aotloop.checks.evaluation import *; from aotloop.core.model import *; "
            "evaluate(BaseCase(type='command', value=command), root=root)"
        ),
    ],
    ids=["run", "evaluate"],
)
def test_an_interrupt_by_the_person_leaves_nothing_behind(tmp_path: Path, call: str) -> None:
    hanging = f"sleep {FOREVER} & echo $! > pid; wait"
    program = f"from pathlib import Path; root = Path({str(tmp_path)!r}); command = {hanging!r}; {call}"
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    pid = written_pid(tmp_path / "pid")
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=PATIENCE)
    assert b"KeyboardInterrupt" in errors
    until(lambda: is_dead(pid), "it still runs")


# --- its own cost ------------------------------------------------------------------------------------------


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    def opened() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    ran("true", tmp_path)
    before = opened()
    for command in ("true", f"sleep {FOREVER} & true", "exit 3", "x\0"):
        ran(command, tmp_path)
    ran(f"sleep {FOREVER}", tmp_path, timeout=0.05)
    assert opened() == before


def test_a_command_that_leaves_nothing_does_not_load_psutil(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from aotloop.checks.command_check import run; "
        "assert run('true', cwd=Path(), timeout=120).exit_code == 0; print('psutil' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, check=True)
    assert done.stdout == b"False\n"
