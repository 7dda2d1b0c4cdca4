"""Real processes: whatever one does, `run` comes back and leaves nothing behind. See conformance.py for the rest."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.attempt.agent_process import LINGER, Ran, run
from aotloop.errors import Unavailable
from aotloop.process.environment import ATTEMPT_MARK
from aotloop.process.spec import Ending, Limits, ProcessSpec
from tests.agents.assignments import LINUX, all_dead, until_written
from tests.checks.proofs import has_ended, is_dead, python, written_pid
from tests.patience import FOREVER, PATIENCE, reached, shell_until, shell_until_there, with_time_enough


def spec(folder: Path, command: str, *, grace: float = 0.5, linger: float = LINGER, **more: Any) -> ProcessSpec:
    values: dict[str, Any] = {"env": {"PATH": os.environ["PATH"]}, "mark": ATTEMPT_MARK}
    ending = Ending(grace=grace, linger=linger)
    return ProcessSpec(argv=("/bin/sh", "-c", command), cwd=folder, ending=ending, **{**values, **more})


async def follow(folder: Path, command: str, on_output: Callable[[str], None] = lambda _: None, **more: Any) -> Ran:
    return await run(spec(folder, command, **more), folder / "transcript.jsonl", on_output)


def ran(folder: Path, command: str, **more: Any) -> Ran:
    return asyncio.run(follow(folder, command, **more))


def hung(folder: Path, command: str, **more: Any) -> Ran:
    """Of a command that hangs for ever once it has made the file "begun": what came of it when its time was up."""
    return with_time_enough(
        lambda limit: ran(folder, command, limits=Limits(total=limit), **more), lambda _: (folder / "begun").exists()
    )


# --- what comes back ---------------------------------------------------------------------------------------------


def test_streams_are_kept_apart_and_together(tmp_path: Path) -> None:
    one, two = (shell_until_there(tmp_path / f"heard-{word}") for word in ("one", "two"))
    command = f"echo one; {one}; echo two >&2; {two}; echo three; exit 3"
    result = asyncio.run(follow(tmp_path, command, lambda line: (tmp_path / f"heard-{line}").touch()))
    assert (result.stdout, result.stderr) == ("one\nthree\n", "two\n")
    assert result.output == "one\ntwo\nthree\n"
    assert (result.exit_code, result.signal, result.timed_out, result.ending) == (3, None, None, "exit 3")


def test_a_signal_is_not_an_exit_code(tmp_path: Path) -> None:
    result = ran(tmp_path, "kill -TERM $$")
    assert (result.exit_code, result.signal, result.ending) == (None, 15, "killed by SIGTERM")


def test_a_last_writer_may_finish_its_line(tmp_path: Path) -> None:
    ended = "! kill -0 $$ 2>/dev/null"
    assert ran(tmp_path, f"({shell_until(ended)}; echo late) & echo early", linger=PATIENCE).stdout == "early\nlate\n"


def test_who_closed_its_output_is_still_waited_for(tmp_path: Path) -> None:
    assert ran(tmp_path, "exec >&- 2>&-; sleep 0.1; exit 5").exit_code == 5
    assert hung(tmp_path, f"exec >&- 2>&-; touch begun; sleep {FOREVER}").timed_out is not None


def test_a_line_without_newline_at_the_end_is_a_line(tmp_path: Path) -> None:
    lines: list[str] = []
    asyncio.run(follow(tmp_path, "printf 'one\ntwo'", lines.append))
    assert lines == ["one", "two"]


def test_input_is_what_was_given_and_then_ends(tmp_path: Path) -> None:
    assert ran(tmp_path, "cat; cat", stdin=b"words\n").stdout == "words\n"
    assert ran(tmp_path, "cat").stdout == ""


# --- limits ------------------------------------------------------------------------------------------------------


def test_output_of_either_kind_is_a_sign_of_life(tmp_path: Path) -> None:
    def spoken(limit: float) -> Ran:
        command = f"for i in 1 2 3 4 5 6; do sleep {limit / 3}; echo . >&2; done"
        return ran(tmp_path, command, limits=Limits(start_up=limit, inactivity=limit))

    assert with_time_enough(spoken, lambda result: result.exit_code is not None).exit_code == 0


def test_a_flood_without_end_is_stopped(tmp_path: Path) -> None:
    result = ran(tmp_path, "yes", limits=Limits(total=0.3))
    assert result.timed_out is not None


def test_others_get_their_turn_during_a_flood(tmp_path: Path) -> None:
    async def both() -> list[int]:
        """How many lines came between two turns of ours, where any came."""
        lines: list[str] = []
        flood = asyncio.create_task(follow(tmp_path, "yes", lines.append, grace=0))
        between: list[int] = []
        while len(between) < 50:
            before = len(lines)
            await asyncio.sleep(0)
            between += [len(lines) - before] if len(lines) > before else []
        assert not flood.done()
        flood.cancel()
        await asyncio.wait([flood])
        return between

    assert max(asyncio.run(both())) < 100_000


def test_who_ends_by_itself_during_the_grace_has_timed_out_nevertheless(tmp_path: Path) -> None:
    result = hung(tmp_path, "trap 'exit 0' TERM; touch begun; while :; do sleep 0.02; done", grace=FOREVER)
    assert result.timed_out is not None
    assert result.exit_code is None


# --- nothing is left ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(not LINUX, reason="only by its environment")
def test_a_daemon_does_not_outlive_a_process_that_ended_well(tmp_path: Path) -> None:
    daemon = "import os, sys, time; os.setsid(); open('pid','w').write(f'{os.getpid()}\\n'); time.sleep(3600)"
    command = f"({python(daemon)} >/dev/null 2>&1 </dev/null &)"
    assert ran(tmp_path, f"{command}; {shell_until('test -s pid')}").exit_code == 0
    assert has_ended(written_pid(tmp_path / "pid"))


def test_a_child_with_its_own_session_and_an_empty_environment_dies_with_its_parent(tmp_path: Path) -> None:
    program = "import os,time; os.setsid(); open('pid','w').write(f'{os.getpid()}\\n'); time.sleep(3600)"
    command = f"env -i {python(program)} & {shell_until('test -s pid')}; touch begun; sleep {FOREVER}"
    assert hung(tmp_path, command).timed_out is not None
    assert has_ended(written_pid(tmp_path / "pid"))


@pytest.mark.skipif(not LINUX, reason="a session can be looked through only there")
def test_who_left_the_group_but_not_the_session_dies_without_a_mark_and_without_a_parent(tmp_path: Path) -> None:
    program = "import os,time; os.setpgid(0, 0); open('pid','w').write(f'{os.getpid()}\\n'); time.sleep(3600)"
    command = f"(env -i {python(program)} >/dev/null 2>&1 </dev/null &)"
    assert ran(tmp_path, f"{command}; {shell_until('test -s pid')}").exit_code == 0
    assert has_ended(written_pid(tmp_path / "pid"))


def test_processes_that_keep_forking_are_all_caught(tmp_path: Path) -> None:
    child = "trap '' TERM; echo $$ >> pids; test $(wc -l < pids) -lt 3 || touch begun; while :; do sleep 0.05; done"
    (tmp_path / "child.sh").write_text(child)
    fork = "while :; do (setsid sh child.sh &) ; sleep 0.1; done"
    assert hung(tmp_path, fork, grace=0.2).timed_out is not None
    pids = [int(line) for line in (tmp_path / "pids").read_text().splitlines()]
    assert len(pids) >= 3
    assert all_dead(pids)


def test_a_grandchild_that_floods_the_output_does_not_hold_up_the_end(tmp_path: Path) -> None:
    result = ran(tmp_path, "yes & echo $! > pid; exit 4")
    assert (result.exit_code, result.timed_out) == (4, None)
    assert has_ended(written_pid(tmp_path / "pid"))


def test_the_end_is_noticed_where_the_system_does_not_tell_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)  # as on macOS
    result = ran(tmp_path, f"sleep {FOREVER} & echo done; exit 6")
    assert (result.exit_code, result.stdout) == (6, "done\n")
    assert ran(tmp_path, f"sleep {FOREVER}", limits=Limits(total=0.2)).timed_out is not None


def test_of_many_that_are_cancelled_none_waits_for_the_end_of_another(tmp_path: Path) -> None:
    async def cancelled() -> None:
        files = [tmp_path / str(number) for number in range(8)]
        command = "trap 'touch {0}.asked' TERM; echo $$ > {0}; while :; do sleep 0.1; done"
        commands = [command.format(file.name) for file in files]
        tasks = [asyncio.create_task(follow(tmp_path, one, grace=FOREVER)) for one in commands]
        pids = await until_written(files)
        for task in tasks:
            task.cancel()
        await reached(lambda: len(list(tmp_path.glob("*.asked"))) == 8, "some were not asked to end")
        assert not any(map(is_dead, pids))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert all_dead(pids)
        assert all(task.cancelled() for task in tasks)

    asyncio.run(cancelled())


def test_a_cancellation_while_the_last_are_killed_is_not_lost(tmp_path: Path) -> None:
    async def cancelled() -> list[int]:
        child = "trap 'touch asked' TERM; echo $$ > pid; while :; do sleep 0.1; done"
        command = f'sh -c "$CHILD" & {shell_until("test -s pid")}; exit 0'
        env = {"PATH": os.environ["PATH"], "CHILD": child}
        task = asyncio.create_task(follow(tmp_path, command, env=env, grace=FOREVER))
        pids = await until_written([tmp_path / "pid"])
        await reached((tmp_path / "asked").exists, "it was not asked to end")
        assert not task.done(), "it has ended, but its child has the grace"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pids

    assert all_dead(asyncio.run(cancelled()))


def test_a_surrounding_limit_of_asyncio_works_as_usual(tmp_path: Path) -> None:
    async def limited() -> None:
        async with asyncio.timeout(0.3):
            await follow(tmp_path, f"sleep {FOREVER}")

    with pytest.raises(TimeoutError):
        asyncio.run(limited())


def test_an_attempt_within_an_attempt_carries_both_marks(tmp_path: Path) -> None:
    inner = ran(tmp_path, f"echo ${ATTEMPT_MARK}", env={"PATH": os.environ["PATH"], ATTEMPT_MARK: "outer"}).stdout
    assert inner.startswith("outer:")
    assert len(inner.strip()) > len("outer:") + 30


def test_who_leaves_nothing_behind_does_not_load_psutil(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from aotloop.agents.attempt.agent_process import run
from aotloop.process.spec import ProcessSpec
spec = ProcessSpec(argv=("true",), cwd=Path(), env={{}}, mark="AOT_ATTEMPT_MARK")
assert asyncio.run(run(spec, Path({str(tmp_path / "t")!r}), print)).exit_code == 0
print("psutil" in sys.modules)
"""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"
    assert ran(tmp_path, command, env=env).stdout == "False\n"


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
    values: dict[str, Any] = {"cwd": tmp_path, "env": {"PATH": os.environ["PATH"]}}
    described = ProcessSpec(argv=argv, **{**values, **more})
    with pytest.raises(Unavailable, match=why):
        asyncio.run(run(described, tmp_path / "t", lambda _: None))
    assert not (tmp_path / "t").exists()
