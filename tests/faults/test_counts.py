"""What a campaign counts: cases that were not survived, updates that were lost, injections; each of it fails it."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.__main__ import PARTS
from faults.campaign import Tally, Trial
from faults.counts import Counts, Deadline, table
from faults.kills import _counted
from faults.strikes import Strike


def test_what_is_survived_is_no_problem() -> None:
    counts = Counts("disk full")
    counts.add("a case", [])
    assert (counts.cases, counts.survivors, counts.is_broken) == (1, 1, False)


@pytest.mark.parametrize(("problems", "lost", "injections"), [(["it is gone"], 0, 0), ([], 1, 0), ([], 0, 1)])
def test_whatever_goes_wrong_breaks_it(problems: list[str], lost: int, injections: int) -> None:
    counts = Counts("disk full")
    counts.add("a case", problems, lost=lost, injections=injections)
    assert (counts.survivors, counts.is_broken) == (0, True)


def test_one_table_has_all_of_it() -> None:
    fine, broken = Counts("disk full"), Counts("links")
    fine.add("a", [])
    broken.add("b", ["was written: x"], injections=1)
    shown = table([fine, broken, Counts("clock jumps", skipped="there is no C compiler")]).splitlines()
    assert shown[0].split("  ")[0] == "kind"
    assert shown[1].split() == ["disk", "full", "1", "1", "0", "0", "0"]
    assert shown[2].split() == ["links", "1", "0", "0", "1", "0"]
    assert "skipped: there is no C compiler" in shown[3]
    assert shown[4].split() == ["all", "2", "1", "0", "1", "0"]
    assert shown[5] == "  => links: b: was written: x"


def test_a_kill_that_lost_something_is_counted_as_that() -> None:
    tally = Tally()
    tally.add(Trial(1, strikes=[Strike("any time", 0, 0.1)] * 3))
    tally.add(
        Trial(2, strikes=[Strike("any time", 0, 0.1)] * 2, problems=["iteration was 5, and is 3", "not clean: x"])
    )
    counts = _counted(tally, 1.0)
    assert (counts.cases, counts.survivors, counts.lost, counts.is_broken) == (5, 3, 1, True)


def test_the_parts_of_a_campaign_share_the_time() -> None:
    assert sum(share for share, _ in PARTS.values()) == pytest.approx(1.0)
    assert Deadline(0).is_over
    assert not Deadline().is_over


def test_the_shim_is_a_file_of_ours() -> None:
    source = (Path(__file__).parents[2] / "faults" / "shim.c").read_text()
    assert [call for call in ("write", "fsync", "rename", "openat", "clock_gettime") if f" {call}(" not in source] == []
