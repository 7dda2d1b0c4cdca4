"""A promise is the last text between the marks, however much stands around it."""

from __future__ import annotations

import pytest

from aotloop.core.phases.promise import LONGEST, promise_in, without_promises


@pytest.mark.parametrize(
    ("message", "promise"),
    [
        ("", None),
        ("SHIPPED", None),
        ("<promise>SHIPPED</promise>", "SHIPPED"),
        ("<promise>NO</promise> then <promise>\nSHIPPED </promise>.", "SHIPPED"),
        ("I end with <promise>SHIPPED</promise> when it is done. <promise>NOT YET</promise>", "NOT YET"),
        ("As told, <promise> comes last: <promise>SHIPPED</promise>", "SHIPPED"),
        ("<promise></promise>", None),
        ("<promise> \n </promise>", None),
        ("<promise>" + "x" * LONGEST + "</promise>", "x" * LONGEST),
        ("<promise>" + "x" * (LONGEST + 1) + "</promise>", None),
        ("x" * 1_000_000 + "<promise>SHIPPED</promise>", "SHIPPED"),
        ("<promise>" * 100_000, None),
    ],
)
def test_the_last_promise_between_the_marks_counts(message: str, promise: str | None) -> None:
    assert promise_in(message) == promise


def test_a_summary_is_kept_without_its_promises() -> None:
    text = "notes <promise>NO</promise>are written <promise>SHIPPED</promise>"
    assert without_promises(text) == "notes are written "
