"""How a process ended, in words."""

from __future__ import annotations

import signal

import pytest

from aotloop.process.exit_status import could_not_run, signal_behind, status_in_words


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exit 0"),
        (3, "exit 3"),
        (126, "exit 126: the command is not executable"),
        (127, "exit 127: command not found"),
        (128, "exit 128"),
        (143, "exit 143: killed by SIGTERM"),
        (255, "exit 255"),
        (-15, "killed by SIGTERM"),
        (-9, "killed by SIGKILL (killed from outside, perhaps for lack of memory)"),
        (-40, "killed by signal 40"),
    ],
)
def test_every_status_has_words(status: int, words: str) -> None:
    assert status_in_words(status) == words


def test_a_signal_is_found_behind_either_way_of_telling_it() -> None:
    assert signal_behind(None, 9) == signal_behind(137, None) == signal.SIGKILL
    assert signal_behind(3, None) is None
    assert signal_behind(None, None) is None


def test_what_could_not_run_is_told_from_what_failed() -> None:
    assert could_not_run(126)
    assert could_not_run(127)
    assert not could_not_run(1)
    assert not could_not_run(None)
