"""Reports have only text that a file can hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aotloop.core.events import Child
from aotloop.core.model import Verdict
from aotloop.core.scheduler import reports
from aotloop.text.encodable import encodable

BAD = "x\udcff"
SHOWN = "x\\udcff"


def test_what_is_text_stays_the_very_same_value() -> None:
    report = reports.WorkFailed(at="now", attempt=1, reason="ä 日本 \n fine", progress=True)
    assert encodable(report) is report
    nested = reports.ChildrenProposed(at="now", attempt=1, reason="", children=(Child(description="ok"),))
    assert encodable(nested) is nested


def test_what_is_none_is_shown_wherever_it_stands() -> None:
    verdict = Verdict(passed=False, objective_digest="d", at="now", failing=(BAD, "fine"))
    report = reports.Verified(at="now", number=1, verdict=verdict, evidence={BAD: BAD, "fine": "fine"})
    shown = encodable(report)
    assert shown.verdict.failing == (SHOWN, "fine")
    assert shown.evidence == {SHOWN: SHOWN, "fine": "fine"}


@given(st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF), max_size=20))
def test_any_text_can_be_written_afterwards(text: str) -> None:
    encodable(reports.MergeBlocked(at="now", attempt=1, reason=text)).reason.encode()
