"""Those who look at the same time share one look, and none gets a look that began before it had asked."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from aotloop.process import process_table
from aotloop.process.process_table import Look, SharedLook
from tests.patience import until

_ASKERS = 20


def test_those_who_ask_during_a_look_share_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, gate = SharedLook(), threading.Event()
    sinces: list[list[int]] = []

    def pids() -> list[int]:
        gate.wait()
        return [1, 2, 3]

    class Counted(Look):
        def __init__(self, since: list[int]) -> None:
            sinces.append(since)
            super().__init__(since)

    monkeypatch.setattr(process_table, "all_pids", pids)
    monkeypatch.setattr(process_table, "Look", Counted)
    with ThreadPoolExecutor(_ASKERS) as threads:
        first = threads.submit(looks.look, 1)
        until(lambda: bool(sinces), "nothing looks")
        others = [threads.submit(looks.look, 2) for _ in range(_ASKERS - 1)]
        until(lambda: len(looks._wishes) == _ASKERS - 1, "they do not wait")
        gate.set()
        found = {id(one.result()) for one in others}
    assert len(found) == 1
    assert id(first.result()) not in found
    assert sinces == [[1], [2] * (_ASKERS - 1)]


def test_a_look_that_fails_hinders_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, gate = SharedLook(), threading.Event()
    answers = [OSError("no more open files"), OSError("still none")]

    def pids() -> list[int]:
        gate.wait()
        if answers:
            raise answers.pop()
        return [7]

    monkeypatch.setattr(process_table, "all_pids", pids)
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(looks.look, 0) for _ in range(4)]
        gate.set()
        failed = [one for one in asked if one.exception() is not None]
    assert len(failed) == 2
    assert all(one.result().pids == [7] for one in asked if one not in failed)


def test_numbers_that_begin_again_hide_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "all_pids", lambda: [3, 50, 4000])
    monkeypatch.setattr(process_table, "last_pid", lambda: 60)
    assert Look([40, 55]).pids == [50, 4000]
    assert Look([55, 3900]).pids == [3, 50, 4000]
