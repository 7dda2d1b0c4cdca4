"""Places are chosen so that all ends early: virtual time, the same result each time."""

from __future__ import annotations

import asyncio
import heapq
from itertools import count

import pytest

from aotloop.config.remote_settings import LOCAL
from aotloop.remote import attempt_placement
from aotloop.remote.attempt_placement import FAR_WAIT, Job, Lengths, Place, Placement, starts
from tests.patience import reached

BOTH = (LOCAL, "far")


def job(name: str, seconds: float = 60.0, places: tuple[str, ...] = BOTH) -> Job:
    return Job(name=name, seconds=seconds, places=places)


def places(local: int | None = 2, far: int | None = 4, takers: int | None = 1) -> dict[str, Place]:
    made = {LOCAL: Place(LOCAL, local), "far": Place("far", far)}
    made["far"].takers = takers
    return made


def where(found: list[tuple[Job, str]]) -> dict[str, str]:
    return {one.name: name for one, name in found}


def test_while_a_local_slot_is_free_an_unknown_queue_is_not_preferred() -> None:
    assert where(starts([job("A1"), job("A2")], places(), 0.0)) == {"A1": LOCAL, "A2": LOCAL}


def test_what_does_not_fit_here_goes_to_the_queue_at_once() -> None:
    found = where(starts([job(f"A{n}") for n in range(6)], places(), 0.0))
    assert sorted(found.values()) == ["far"] * 4 + [LOCAL] * 2


def test_slots_of_a_queue_hold() -> None:
    found = where(starts([job(f"A{n}") for n in range(20)], places(local=1, far=3), 0.0))
    assert sorted(found.values()) == ["far"] * 3 + [LOCAL]


def test_a_queue_without_workers_gets_nothing_that_this_machine_can_do() -> None:
    found = where(starts([job(f"A{n}") for n in range(6)], places(takers=0), 0.0))
    assert sorted(found.values()) == [LOCAL] * 2


def test_what_only_that_queue_can_do_waits_there_for_a_worker() -> None:
    assert where(starts([job("A1", places=("far",))], places(takers=0), 0.0)) == {"A1": "far"}


def test_a_queue_that_was_measured_to_be_slow_is_not_preferred_although_this_machine_is_full() -> None:
    known = places(local=1)
    for _ in range(10):
        known["far"].measured(0.0, wait=300.0, pace=3.0)
    found = where(starts([job("A1"), job("A2")], known, 0.0))
    assert found == {"A1": LOCAL}  # A2 ends earlier if it waits for the local slot


def test_a_queue_that_is_much_faster_is_preferred_although_a_local_slot_is_free() -> None:
    known = places()
    for _ in range(10):
        known["far"].measured(0.0, wait=1.0, pace=0.2)
    assert where(starts([job("A1", 600.0)], known, 0.0)) == {"A1": "far"}


def test_a_slow_queue_is_tried_again_after_a_while() -> None:
    slow = Place("far", 1)
    slow.measured(0.0, wait=1000.0, pace=None)
    assert slow.wait_at(0.0) > 300
    assert slow.wait_at(2 * 3600.0) == pytest.approx(FAR_WAIT, abs=1.0)


def test_the_longest_work_goes_first_to_where_it_ends_first() -> None:
    jobs = [job("short", 10.0), job("long", 1000.0), job("middle", 100.0)]
    known = places(local=1, far=1)
    assert where(starts(jobs, known, 0.0)) == {"long": LOCAL, "middle": "far"}


def test_what_is_overdue_is_expected_to_take_longer_still() -> None:
    known = places(local=1, far=1)
    known[LOCAL].running["old"] = (0.0, 10.0)
    assert known[LOCAL].free_at(5.0) == [10.0]
    assert known[LOCAL].free_at(100.0) == [125.0]


@pytest.mark.parametrize("seed", range(20))
def test_the_makespan_is_close_to_the_least_possible(seed: int) -> None:
    """Virtual time: what really happens differs from what was expected, and is measured."""
    lengths = [10.0 + (seed * 7919 + n * 104729) % 300 for n in range(60)]
    pace = {LOCAL: 1.0, "far": 0.5 + seed % 5}
    slots = {LOCAL: 2, "far": 4}
    known = {name: Place(name, slots[name]) for name in slots}
    waiting = [job(f"A{n}", length) for n, length in enumerate(lengths)]
    ends: list[tuple[float, int, Job, str]] = []
    now, order = 0.0, count()
    while waiting or ends:
        for one, name in starts(waiting, known, now):
            waiting.remove(one)
            known[name].running[one.name] = (now, known[name].length(one, now))
            heapq.heappush(ends, (now + FAR_WAIT + one.seconds * pace[name], next(order), one, name))
        now, _, one, name = heapq.heappop(ends)
        del known[name].running[one.name]
        known[name].measured(now, FAR_WAIT if name != LOCAL else 0.0, pace[name])
    speed = sum(slots[name] / pace[name] for name in slots)
    least = max(sum(lengths) / speed, max(lengths) * min(pace.values()))
    assert now <= 1.35 * least + max(lengths) * 0.5


# --- with an event loop -------------------------------------------------------------------------------------------


class Field:
    """A placement whose queue has as many workers as it is told."""

    def __init__(self, local: int, far: int | None, takers: int | None = 1) -> None:
        self.takers = takers
        self.now = 0.0
        self.asked = 0
        self.placement = Placement({LOCAL: local, "far": far}, self._takers, lambda: self.now)
        self.at: dict[str, str] = {}

    async def _takers(self, _: str) -> int | None:
        self.asked += 1
        return self.takers

    async def run(self, one: Job, gate: asyncio.Event) -> None:
        async with self.placement.place(one) as name:
            self.at[one.name] = name
            await gate.wait()


async def settled(field: Field, number: int) -> None:
    await reached(lambda: len(field.at) >= number)


def test_a_job_waits_until_a_slot_is_free_and_a_cancelled_one_takes_none() -> None:
    async def scenario() -> None:
        field, gate = Field(local=1, far=1, takers=0), asyncio.Event()
        tasks = [asyncio.create_task(field.run(job(f"A{n}", 60.0 - n), gate)) for n in range(3)]
        await settled(field, 1)
        assert field.at == {"A0": LOCAL}
        tasks[1].cancel()
        gate.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert field.at == {"A0": LOCAL, "A2": LOCAL}
        field.placement.close()

    asyncio.run(scenario())


def test_a_worker_that_comes_gets_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_placement, "_NEWS", 0.02)

    async def scenario() -> None:
        field, gate = Field(local=1, far=None, takers=0), asyncio.Event()
        tasks = [asyncio.create_task(field.run(job(f"A{n}"), gate)) for n in range(3)]
        await settled(field, 1)
        field.takers, field.now = 2, 1.0
        await settled(field, 3)
        assert sorted(field.at.values()) == ["far", "far", LOCAL]
        gate.set()
        await asyncio.gather(*tasks)
        field.placement.close()

    asyncio.run(scenario())


def test_without_a_choice_no_server_is_asked() -> None:
    async def scenario() -> None:
        field, gate = Field(local=1, far=None), asyncio.Event()
        gate.set()
        await field.run(job("A1", places=("far",)), gate)
        assert (field.at, field.asked) == ({"A1": "far"}, 0)

    asyncio.run(scenario())


def test_an_estimate_counts_before_what_was_measured() -> None:
    lengths = Lengths()
    first = lengths.job("1", "shell", None, BOTH)
    assert (first.seconds, first.is_guess) == (60.0, True)
    lengths.noted("shell", 10.0)
    assert lengths.job("2", "shell", None, BOTH) == job("2", 10.0)
    assert lengths.job("3", "shell", 2.0, BOTH) == job("3", 120.0)


def test_a_guess_says_nothing_about_the_speed_of_a_place() -> None:
    field = Field(local=1, far=1)
    field.placement.measured("far", Lengths().job("1", "shell", None, BOTH), total=700.0, seconds=600.0)
    assert field.placement.pace("far") == 1.0
    field.placement.measured("far", job("2"), total=700.0, seconds=600.0)
    assert field.placement.pace("far") > 4.0
