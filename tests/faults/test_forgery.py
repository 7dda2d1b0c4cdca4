"""A sample of the campaign `forgery`: forged records and hostile files land nothing unchecked, and nothing hangs."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.counts import Deadline
from faults.forgery import fields, hostile_run


def test_every_twelfth_forged_field_and_a_weakened_test_are_not_taken_up(tmp_path: Path) -> None:
    counts = fields(tmp_path, Deadline(), every=12)
    assert counts.cases > 40
    assert counts.problems == []


@pytest.mark.parametrize(("place", "kind"), [("record.json", "forged"), ("events", "fifo"), ("result", "device")])
def test_hostile_files_beside_an_attempt_stop_nothing(tmp_path: Path, place: str, kind: str) -> None:
    assert list(hostile_run(tmp_path / "x", place, kind, "off")) == []
