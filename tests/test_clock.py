"""The time of day is a label: one module reads it, and texts that others wrote are read with care."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aotloop import clock

SOURCES = Path(clock.__file__).parent
READING = re.compile(
    r"\btime\.(time|time_ns|gmtime|localtime|ctime|strftime)\b|\bdatetime\.(now|utcnow|today)\b|from time import"
)


def test_only_the_clock_reads_the_time_of_day() -> None:
    """What has to be waited for is waited for by `time.monotonic`, which a person cannot set."""
    found = [path.relative_to(SOURCES) for path in SOURCES.rglob("*.py") if READING.search(path.read_text("utf-8"))]
    assert found == [Path("clock.py")]


def test_a_time_is_written_in_utc_with_whole_seconds_and_read_back() -> None:
    assert clock.text_of(0) == "1970-01-01T00:00:00Z"
    assert clock.text_of(1_700_000_000.9) == "2023-11-14T22:13:20Z"
    assert clock.unix_time_of(clock.text_of(1_700_000_000)) == 1_700_000_000


def test_now_is_written_like_any_other_time() -> None:
    read = clock.unix_time_of(clock.now())
    assert read is not None
    assert clock.text_of(read) <= clock.now()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:01:00", 60),
        ("1970-01-01T00:01:00Z", 60),
        ("1970-01-01T01:01:00+01:00", 60),
        ("1970-01-01", 0),
        ("", None),
        ("yesterday", None),
        ("9999-99-99T00:00:00Z", None),
    ],
)
def test_times_of_others_are_read_with_any_zone_and_what_is_no_time_is_none(text: str, seconds: int | None) -> None:
    assert clock.unix_time_of(text) == seconds
