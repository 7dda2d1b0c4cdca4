"""Claude Code is ended when it must be, and nothing of it is left."""

from __future__ import annotations

import asyncio
import re

import pytest

from aotloop.agents.contract import Done, MustWait, Outcome, TimedOut, Tokens
from aotloop.process.spec import Limits
from tests.agents.assignments import all_dead, until_written
from tests.agents.claude.stage import DONE, Stage, shell
from tests.agents.conformance import FAMILY, MEMBERS
from tests.modelserver import Say, errors, silent, slow
from tests.modelserver.clients import needs_claude
from tests.patience import PATIENCE, reached, with_time_enough

pytestmark = needs_claude

SILENCES = (3.0, 15.0, PATIENCE)
"""As long as the client may be silent. It takes its time to start, and to ask."""


def test_a_model_that_says_nothing_is_not_waited_for_without_end(stage: Stage) -> None:
    def asked(limit: float) -> Outcome:
        turns = [shell("true"), Say("", delivery=silent())]
        return stage.play(turns, limits=Limits(start_up=PATIENCE, inactivity=limit))[0]

    outcome = with_time_enough(asked, lambda outcome: outcome.tokens is not None, SILENCES)
    assert isinstance(outcome, TimedOut)
    assert re.search(r"printed nothing for [\d.]+ s", outcome.reason)
    assert outcome.tokens == Tokens(input=10, output=5)


def test_a_model_that_speaks_slowly_is_alive(stage: Stage) -> None:
    def asked(limit: float) -> Outcome:
        words = Say("word " * 24, delivery=slow(limit / 8))
        return stage.play([words, DONE], limits=Limits(start_up=PATIENCE, inactivity=limit))[0]

    assert isinstance(with_time_enough(asked, lambda outcome: not isinstance(outcome, TimedOut), SILENCES), Done)


def test_silence_because_of_a_rate_limit_is_no_fault_of_the_agent(stage: Stage) -> None:
    turns = [errors.rate_limited(retry_after=50)]

    def asked(limit: float) -> Outcome:
        return stage.play(turns, limits=Limits(start_up=PATIENCE, inactivity=limit))[0]

    outcome = with_time_enough(asked, lambda outcome: not isinstance(outcome, TimedOut), SILENCES)
    assert isinstance(outcome, MustWait)
    assert (outcome.cause, outcome.retry_after) == ("rate_limit", 50)


def test_cancelled_in_the_middle_of_a_reply_nothing_is_left(stage: Stage) -> None:
    with stage.serve([Say("word " * 400, delivery=slow(0.2))]) as server:
        assignment = stage.assignment(server, grace=0.3)

        async def cancelled() -> None:
            heard: list[str] = []
            task = asyncio.create_task(stage.backend.run(assignment, heard.append))
            await reached(lambda: len(server.played) == 1, "no request")
            await reached(lambda: heard, "no word of the reply")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        assert stage.living() == []


def test_cancelled_while_a_command_runs_its_whole_family_is_dead(stage: Stage) -> None:
    (stage.cwd / "family.py").write_text(FAMILY)
    with stage.serve([shell("python3 family.py")]) as server:
        assignment = stage.assignment(server, grace=0.3)

        async def cancelled() -> list[int]:
            task = asyncio.create_task(stage.backend.run(assignment, lambda _: None))
            pids = await until_written([stage.cwd / name for name in MEMBERS])
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return pids

        assert all_dead(asyncio.run(cancelled()))
        assert stage.living() == []


def test_what_a_command_left_in_the_background_is_ended_with_the_attempt(stage: Stage) -> None:
    outcome, _ = stage.play([shell("setsid sleep 3600 > /dev/null 2>&1 & echo $! > left"), DONE])
    assert isinstance(outcome, Done)
    assert all_dead([int((stage.cwd / "left").read_text())])
