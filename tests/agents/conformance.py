"""What every backend fulfils, as tests. A backend says how it is made to run a Python program; the rest is here.

class TestMine(Conformance):
def prepared(self, folder, program): return MyBackend(…), {"command": …}

A backend whose client wraps its answers says how, by `line`; what it wraps is the same for all.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import textwrap
import tracemalloc
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import psutil
import pytest

from aotloop.agents.contract import (
    Assignment,
    Backend,
    Capabilities,
    Done,
    Failure,
    Garbage,
    Outcome,
    Probed,
    Proposed,
    TimedOut,
)
from aotloop.core.model import Binding
from aotloop.process.spec import Limits
from tests.agents.assignments import (
    LINUX,
    all_dead,
    an_assignment,
    attempt,
    transcript,
    until_written,
    worker_answer,
)
from tests.patience import FOREVER, PATIENCE, reached, until, with_time_enough

FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: open("asked", "w").close())
def live(name):
    with open(name, "w") as file: file.write(f"{os.getpid()}\\n")
    time.sleep(3600)
    os._exit(0)
if os.fork() == 0: live("child")
if os.fork() == 0:
    os.setsid()
    live("own session")
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2): os.dup2(null, stream)
    live("daemon")
live("leader")
"""
MEMBERS = ("child", "own session", "daemon", "leader")


class Conformance(ABC):
    @abstractmethod
    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        """A backend whose agent is this Python program, and what else an assignment for it holds."""

    def line(self, answer: str) -> str:
        """What its client prints to give this answer."""
        return answer

    def printed(self, assignment: Assignment) -> list[str]:
        """What the transcript has, without what the client prints around the program's lines."""
        return [entry["text"] for entry in transcript(assignment)]

    # --- how a test is made ---------------------------------------------------------------------------------------

    @property
    def says_done(self) -> str:
        return self.says(worker_answer())

    def says(self, answer: str) -> str:
        """A program that answers so."""
        return f"print({self.line(answer)!r})"

    def given(self, folder: Path, program: str, **more: Any) -> tuple[Backend, Assignment]:
        file = folder / "program.py"
        file.write_text(textwrap.dedent(program))
        backend, needed = self.prepared(folder, file)
        return backend, an_assignment(folder, **{**needed, **more})

    def outcome(self, folder: Path, program: str, **more: Any) -> Outcome:
        return attempt(*self.given(folder, program, **more))

    # --- how it ends ----------------------------------------------------------------------------------------------

    def test_it_has_a_name_and_says_what_it_can_do(self, tmp_path: Path) -> None:
        backend, _ = self.given(tmp_path, "")
        assert backend.name
        assert isinstance(backend.capabilities, Capabilities)
        assert backend.look().problem is None

    def test_success_is_done_with_a_summary(self, tmp_path: Path) -> None:
        outcome = self.outcome(tmp_path, self.says_done)
        assert isinstance(outcome, Done)
        assert "it is done" in outcome.summary
        assert outcome.seconds > 0
        assert "it is done" in outcome.output

    def test_a_failing_program_is_a_failure_with_its_exit_code_and_last_words(self, tmp_path: Path) -> None:
        outcome = self.outcome(tmp_path, "print('so it goes'); raise SystemExit(3)")
        assert isinstance(outcome, Failure)
        assert "exit 3" in outcome.reason
        assert "so it goes" in outcome.reason

    def test_death_by_a_signal_is_told_in_words(self, tmp_path: Path) -> None:
        outcome = self.outcome(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        assert isinstance(outcome, Failure)
        assert "killed by SIGKILL" in outcome.reason
        assert not outcome.taught

    # --- what it prints -------------------------------------------------------------------------------------------

    def test_lines_are_handed_on_in_order_while_it_runs(self, tmp_path: Path) -> None:
        program = f"""
            import os, sys, time
            print("one", flush=True)
            while not os.path.exists("seen"): time.sleep(0.01)
            print("two", flush=True)
            {self.says_done}
        """
        backend, assignment = self.given(tmp_path, program)
        lines: list[str] = []

        def hear(line: str) -> None:
            lines.append(line)
            (assignment.cwd / "seen").touch()

        assert isinstance(attempt(backend, assignment, hear), Done)
        assert lines[:2] == ["one", "two"]
        assert self.printed(assignment)[:2] == ["one", "two"]

    def test_both_streams_are_in_the_transcript_and_told_apart(self, tmp_path: Path) -> None:
        program = f"import sys; print('careful', file=sys.stderr)\n{self.says_done}"
        backend, assignment = self.given(tmp_path, program, records=tmp_path / "closed to the agent")
        assert isinstance(attempt(backend, assignment), Done)
        assert not (assignment.scratch / "transcript.jsonl").exists()
        entries = [(entry["stream"], entry["text"]) for entry in transcript(assignment)]
        assert ("stderr", "careful") in entries
        assert ("stdout", self.line(worker_answer())) in entries
        assert entries[-1] == ("note", "exit 0")

    def test_invalid_utf8_does_no_harm(self, tmp_path: Path) -> None:
        lines: list[str] = []
        program = f"import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb\\n'); sys.stdout.flush()\n{self.says_done}"
        assert isinstance(attempt(*self.given(tmp_path, program), lines.append), Done)
        assert lines[0] == "a\ufffd\ufffdb"

    def test_32_megabytes_of_output_stay_in_bounded_memory_and_disk(self, tmp_path: Path) -> None:
        program = f"""
            import sys
            line = "x" * 999 + "\\n"
            for _ in range(32): sys.stdout.write(line * 1000)
            {self.says_done}
        """
        backend, assignment = self.given(tmp_path, program)
        tracemalloc.start()
        try:
            outcome = attempt(backend, assignment)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert isinstance(outcome, Done)
        assert peak < 8_000_000
        assert (assignment.scratch / "transcript.jsonl").stat().st_size < 21_000_000
        assert any("the middle of the output is left out" in note for note in outcome.notes)
        assert self.printed(assignment)[-2] == self.line(worker_answer())

    def test_32_megabytes_in_one_line_stay_in_bounded_memory(self, tmp_path: Path) -> None:
        program = f"import sys; [sys.stdout.write('x' * 1_000_000) for _ in range(32)]; print()\n{self.says_done}"
        backend, assignment = self.given(tmp_path, program)
        longest = 0

        def measure(line: str) -> None:
            nonlocal longest
            longest = max(longest, len(line))

        tracemalloc.start()
        try:
            assert isinstance(attempt(backend, assignment, measure), Done)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8_000_000
        assert longest < 100_000

    # --- what it is given -----------------------------------------------------------------------------------------

    def test_it_works_in_its_folder(self, tmp_path: Path) -> None:
        backend, assignment = self.given(tmp_path, f"open('made', 'w').close()\n{self.says_done}")
        assert isinstance(attempt(backend, assignment), Done)
        assert (assignment.cwd / "made").exists()

    def test_secrets_of_our_environment_are_not_visible(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CANARY_API_KEY", "sk-canary")
        monkeypatch.setenv("AOT_SECRET", "sk-canary")
        program = f"import os; open('seen', 'w').write(repr(dict(os.environ)))\n{self.says_done}"
        backend, assignment = self.given(tmp_path, program, env={"EXTRA": "given"})
        assert isinstance(attempt(backend, assignment), Done)
        seen = (assignment.cwd / "seen").read_text()
        assert "sk-canary" not in seen
        assert "'EXTRA': 'given'" in seen
        assert "'PATH'" in seen

    def test_it_is_told_who_it_is(self, tmp_path: Path) -> None:
        program = f"""
            import json, os
            bindings = json.load(open(os.environ["AOT_BINDINGS"]))
            names = ("RUN_ID", "ATOM_ID", "ATTEMPT", "ROLE", "STATE_FILE")
            json.dump([*(os.environ["AOT_" + name] for name in names), bindings], open("told", "w"))
            {self.says_done}
        """
        bindings = {"A0": Binding(summary="before", artifacts=("a.py",))}
        backend, assignment = self.given(tmp_path, program, bindings=bindings)
        assert isinstance(attempt(backend, assignment), Done)
        told = json.loads((assignment.cwd / "told").read_text())
        assert told[:5] == ["run-1", "A1", "1", "worker", str(assignment.state_file)]
        assert told[5] == {"A0": {"summary": "before", "artifacts": ["a.py"]}}

    @pytest.mark.parametrize("reads", [True, False])
    def test_a_prompt_of_a_megabyte_is_no_deadlock(self, tmp_path: Path, *, reads: bool) -> None:
        reading = "import sys; sys.stdin.read()\n" if reads else ""
        flood = "print('x' * 500_000)\n"
        outcome = self.outcome(tmp_path, flood + reading + flood + self.says_done, prompt="words " * 180_000)
        assert isinstance(outcome, Done)

    # --- limits of time -------------------------------------------------------------------------------------------

    def test_who_never_ends_is_ended(self, tmp_path: Path) -> None:
        program = "import time\nwhile True: print('busy', flush=True); time.sleep(0.05)"

        def limited(limit: float) -> Outcome:
            return self.outcome(tmp_path, program, limits=Limits(start_up=PATIENCE, inactivity=PATIENCE, total=limit))

        outcome = with_time_enough(limited, lambda outcome: "busy" in outcome.output)
        assert isinstance(outcome, TimedOut)
        assert re.search(r"did not end within [\d.]+ s", outcome.reason)
        assert "busy" in outcome.output

    def test_who_falls_silent_is_ended(self, tmp_path: Path) -> None:
        def fallen_silent(limit: float) -> Outcome:
            program = f"""
                import time
                for _ in range(6):
                    print('.', flush=True)
                    time.sleep({limit / 3})
                print('last', flush=True)
                time.sleep(3600)
            """
            return self.outcome(tmp_path, program, limits=Limits(start_up=PATIENCE, inactivity=limit, total=FOREVER))

        outcome = with_time_enough(fallen_silent, lambda outcome: "last" in outcome.output)
        assert isinstance(outcome, TimedOut)
        assert re.search(r"printed nothing for [\d.]+ s", outcome.reason)

    def test_who_never_begins_is_ended(self, tmp_path: Path) -> None:
        outcome = self.outcome(
            tmp_path, "import time; time.sleep(3600)", limits=Limits(start_up=0.3, inactivity=FOREVER)
        )
        assert isinstance(outcome, TimedOut)
        assert "printed nothing within 0.3 s of its start" in outcome.reason
        assert not outcome.taught

    # --- nothing is left ------------------------------------------------------------------------------------------

    @pytest.mark.skipif(not LINUX, reason="a daemon is found by its environment, which only Linux shows")
    def test_cancelling_kills_the_whole_family_before_it_returns(self, tmp_path: Path) -> None:
        backend, assignment = self.given(tmp_path, FAMILY, grace=0.3)

        async def cancelled() -> list[int]:
            task = asyncio.create_task(backend.run(assignment, lambda _: None))
            pids = await until_written([assignment.cwd / name for name in MEMBERS])
            assert not any(map(all_dead, ([pid] for pid in pids)))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return pids

        pids = asyncio.run(cancelled())
        assert all_dead(pids)
        assert (assignment.cwd / "asked").exists(), "they had the grace"

    @pytest.mark.skipif(not LINUX, reason="a daemon is found by its environment, which only Linux shows")
    def test_a_time_out_kills_the_whole_family(self, tmp_path: Path) -> None:
        files = [tmp_path / "tree" / name for name in MEMBERS]

        def limited(limit: float) -> Outcome:
            return self.outcome(tmp_path, FAMILY, grace=0.1, limits=Limits(total=limit))

        outcome = with_time_enough(limited, lambda _: all(file.exists() and file.read_text() for file in files))
        assert isinstance(outcome, TimedOut)
        assert all_dead([int(file.read_text()) for file in files])

    def test_who_heeds_the_polite_signal_may_tidy_up_and_ends_the_grace(self, tmp_path: Path) -> None:
        program = """
            import os, signal, sys, time
            def tidy(*_):
                time.sleep(0.1)
                open("tidied", "w").close()
                print("tidied", flush=True)
                os._exit(0)
            signal.signal(signal.SIGTERM, tidy)
            open("leader", "w").write(f"{os.getpid()}\\n")
            time.sleep(3600)
        """
        backend, assignment = self.given(tmp_path, program, grace=FOREVER)

        async def cancelled() -> None:
            task = asyncio.create_task(backend.run(assignment, lambda _: None))
            await until_written([assignment.cwd / "leader"])
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        assert (assignment.cwd / "tidied").exists()
        assert "tidied" in [entry["text"] for entry in transcript(assignment)]

    def test_cancelling_once_more_ends_the_grace(self, tmp_path: Path) -> None:
        backend, assignment = self.given(tmp_path, FAMILY, grace=FOREVER)

        async def cancelled() -> list[int]:
            task = asyncio.create_task(backend.run(assignment, lambda _: None))
            pids = await until_written([assignment.cwd / name for name in MEMBERS])
            task.cancel()
            await reached((assignment.cwd / "asked").exists, "they were not asked to end")
            assert not task.done()
            task.cancel()
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(asyncio.CancelledError):
                    await task
            return pids

        assert all_dead(asyncio.run(cancelled()))

    def test_one_cancelled_attempt_does_not_touch_another(self, tmp_path: Path) -> None:
        waiting = "import os, time\nopen('leader', 'w').write(f'{os.getpid()}\\n')\n"
        patient = waiting + "while not os.path.exists('go'): time.sleep(0.01)\n" + self.says_done
        (tmp_path / "one").mkdir()
        (tmp_path / "two").mkdir()
        one, first = self.given(tmp_path / "one", patient)
        two, second = self.given(tmp_path / "two", patient)

        async def both() -> Outcome:
            doomed = asyncio.create_task(one.run(first, lambda _: None))
            spared = asyncio.create_task(two.run(second, lambda _: None))
            await until_written([first.cwd / "leader", second.cwd / "leader"])
            doomed.cancel()
            await asyncio.wait([doomed])
            (second.cwd / "go").touch()
            return await spared

        assert isinstance(asyncio.run(both()), Done)

    def test_a_grandchild_that_holds_the_output_does_not_hold_up_the_attempt(self, tmp_path: Path) -> None:
        program = f"""
            import subprocess
            child = subprocess.Popen(["sleep", "3600"])
            open("child", "w").write(f"{{child.pid}}\\n")
            {self.says_done}
        """
        backend, assignment = self.given(tmp_path, program)
        outcome = attempt(backend, assignment)
        assert isinstance(outcome, Done)
        assert all_dead([int((assignment.cwd / "child").read_text())])

    def test_somebody_elses_process_is_left_alone(self, tmp_path: Path) -> None:
        other = subprocess.Popen(["sleep", "3600"])
        try:
            assert isinstance(
                self.outcome(tmp_path, "import time; time.sleep(3600)", limits=Limits(total=0.2)), TimedOut
            )
            assert other.poll() is None
        finally:
            other.kill()
            other.wait()

    def test_descriptors_and_threads_are_given_back(self, tmp_path: Path) -> None:
        us = psutil.Process()
        self.outcome(tmp_path, "import time; time.sleep(3600)", limits=Limits(total=0.1))
        before = us.num_fds(), us.num_threads()
        for _ in range(3):
            self.outcome(tmp_path, self.says_done)
            self.outcome(tmp_path, "import time; time.sleep(3600)", limits=Limits(total=0.1))
        until(lambda: us.num_fds() <= before[0] and us.num_threads() <= before[1], "some are not given back")

    def test_what_our_caller_does_wrong_with_a_line_is_raised_and_leaves_nothing(self, tmp_path: Path) -> None:
        program = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(3600)"
        backend, assignment = self.given(tmp_path, program)
        pids: list[int] = []

        def stumble(line: str) -> None:
            pids.append(int(line))
            raise LookupError(line)

        with pytest.raises(LookupError):
            attempt(backend, assignment, stumble)
        assert all_dead(pids)

    def test_an_interrupt_by_the_person_leaves_nothing_behind(self, tmp_path: Path) -> None:
        backend, assignment = self.given(tmp_path, FAMILY, grace=0.1)
        del backend

        async def interrupted() -> list[int]:
            caller = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                f"import {type(self).__module__} as suite; from pathlib import Path;"
                f"from tests.agents.assignments import *; self = suite.{type(self).__name__}();"
                f"folder = Path({str(tmp_path)!r});"
                "backend, more = self.prepared(folder, folder / 'program.py');"
                "attempt(backend, an_assignment(folder, grace=0.1, **more))",
                env={**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},  # noqa: PTH109
                stderr=subprocess.DEVNULL,
            )
            pids = await until_written([assignment.cwd / name for name in MEMBERS])
            caller.send_signal(2)
            await caller.wait()
            return pids

        assert all_dead(asyncio.run(interrupted()))


class AnswerConformance(Conformance):
    """Of backends whose program answers with JSON, besides."""

    def test_garbage_is_never_success(self, tmp_path: Path) -> None:
        outcome = self.outcome(tmp_path, "print('All done! I am sure. {}')")
        assert isinstance(outcome, Garbage)
        assert "All done!" in outcome.reason
        assert not outcome.taught

    def test_a_truncated_answer_is_garbage_even_after_a_whole_one(self, tmp_path: Path) -> None:
        assert isinstance(
            self.outcome(tmp_path, f"{self.says_done}; print({self.line(worker_answer())[:-20]!r})"), Garbage
        )

    def test_a_proposal_is_handed_on(self, tmp_path: Path) -> None:
        children = [{"name": "a", "description": "first"}, {"description": "then", "depends_on": ["a"]}]
        said = worker_answer(success=False, proposal={"reason": "too big", "children": children})
        outcome = self.outcome(tmp_path, self.says(said))
        assert isinstance(outcome, Proposed)
        assert [child.description for child in outcome.children] == ["first", "then"]
        assert outcome.children[1].depends_on == ("a",)
        assert outcome.reason == "too big"

    def test_a_probe_returns_findings(self, tmp_path: Path) -> None:
        said = json.dumps({"feasible": False, "findings": "no such library", "cost_estimate": None, "proposal": None})
        outcome = self.outcome(tmp_path, self.says(said), role="probe")
        assert isinstance(outcome, Probed)
        assert (outcome.feasible, outcome.findings) == (False, "no such library")
