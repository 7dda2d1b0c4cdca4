"""Cancelling reaches everything that is open, once it is open, and nothing that was closed."""

from __future__ import annotations

import threading

import pytest

from aotloop.process.cancellation import Cancellation


def test_nothing_is_cancelled_at_first() -> None:
    assert not Cancellation().cancelled


def test_cancelling_calls_everyone_who_is_open() -> None:
    cancellation, called = Cancellation(), list[str]()
    with cancellation.calling(lambda: called.append("a")), cancellation.calling(lambda: called.append("b")):
        cancellation.cancel()
        assert cancellation.cancelled
        assert called == ["a", "b"]


def test_who_comes_after_the_cancellation_is_called_at_once() -> None:
    cancellation, called = Cancellation(), list[str]()
    cancellation.cancel()
    with cancellation.calling(lambda: called.append("late")):
        assert called == ["late"]


def test_who_has_closed_is_not_called_even_after_an_error() -> None:
    cancellation, called = Cancellation(), list[str]()
    with pytest.raises(KeyError), cancellation.calling(lambda: called.append("gone")):
        raise KeyError
    cancellation.cancel()
    assert called == []


def test_a_callback_may_cancel_again_as_a_signal_handler_does() -> None:
    cancellation, called = Cancellation(), list[str]()

    def again() -> None:
        if not called:
            called.append("once")
            cancellation.cancel()

    with cancellation.calling(again):
        cancellation.cancel()
    assert called == ["once"]


def test_many_threads_open_and_close_while_another_cancels() -> None:
    cancellation = Cancellation()
    closed, wrong = set[int](), list[int]()

    def work(number: int) -> None:
        for turn in range(200):
            key = number * 1000 + turn
            with cancellation.calling(lambda key=key: wrong.append(key) if key in closed else None):  # type: ignore[misc]
                pass
            closed.add(key)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        cancellation.cancel()
    for thread in threads:
        thread.join()
    assert wrong == []
