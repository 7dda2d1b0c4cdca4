"""Which limit is passed first."""

from __future__ import annotations

import pytest

from aotloop.process.spec import NEVER, Limits, next_expiry


@pytest.mark.parametrize(
    ("limits", "last_output", "at", "words", "taught"),
    [
        (Limits(), None, NEVER, "", False),
        (Limits(total=9), None, 109, "did not end within 9 s", True),
        (Limits(total=9, inactivity=5), 103, 108, "printed nothing for 5 s", False),
        (Limits(total=9, inactivity=5), 106, 109, "did not end", True),
        (Limits(start_up=2, inactivity=1), None, 102, "printed nothing within 2 s of its start", False),
        (Limits(start_up=2, inactivity=1), 101, 102, "printed nothing for 1 s", False),
        (Limits(start_up=2), 101, NEVER, "", False),
        (Limits(inactivity=3), None, 103, "printed nothing for 3 s", False),
    ],
)
def test_the_first_limit_to_be_passed_is_told(
    limits: Limits, last_output: float | None, at: float, words: str, taught: bool
) -> None:
    expiry = next_expiry(limits, 100, last_output)
    assert (expiry.at, expiry.taught) == (at, taught)
    assert words in expiry.reason
