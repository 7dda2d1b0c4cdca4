"""A session is sent back less often than its client heeds."""

from __future__ import annotations

import pytest

from aotloop.hooks.payload import MOST_IN_VAIN, most_in_vain, most_in_vain_with


@pytest.mark.parametrize(
    ("cap", "most"),
    [
        ("", MOST_IN_VAIN),
        ("3", 3),
        ("1", 1),
        ("100", MOST_IN_VAIN),
        ("0", MOST_IN_VAIN),
        ("-2", MOST_IN_VAIN),
        ("x", 6),
    ],
)
def test_blocks_stay_below_what_the_client_heeds(cap: str, most: int) -> None:
    assert most_in_vain_with(cap) == most
    assert MOST_IN_VAIN < 8


def test_the_client_s_setting_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2")
    assert most_in_vain() == 2
