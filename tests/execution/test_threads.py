"""Blocking work is waited for to its end, whoever is cancelled."""

from __future__ import annotations

import asyncio
import threading

import pytest

from aotloop.execution.threads import in_thread, is_called_off
from tests.patience import PATIENCE, until


def test_its_result_is_handed_on() -> None:
    assert asyncio.run(in_thread(lambda: 42)) == 42


def test_its_error_is_handed_on() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(in_thread(fail))


def test_a_cancellation_goes_on_only_when_the_work_is_over() -> None:
    events: list[str] = []
    begun, may_end = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert may_end.wait(PATIENCE)
        events.append("work is over")

    async def main() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        events.append("cancelled")

    asyncio.run(main())
    assert events == ["work is over", "cancelled"]


def test_work_can_look_whether_it_was_called_off() -> None:
    begun = threading.Event()

    def work() -> None:
        begun.set()
        until(is_called_off)

    async def main() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(begun.wait)
        assert not is_called_off()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_whoever_can_be_told_to_end_is_told() -> None:
    begun, told = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert told.wait(PATIENCE)

    async def main() -> None:
        task = asyncio.create_task(in_thread(work, on_cancel=told.set))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert told.is_set()


def test_an_error_of_what_is_no_longer_wanted_is_no_error() -> None:
    begun, cancelled = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert cancelled.wait(PATIENCE)
        raise ValueError("no")

    async def main() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
