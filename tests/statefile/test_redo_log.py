"""What a log may look like after a crash, or in the hands of others."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from aotloop.statefile.redo_log import RedoLog, content_with_log, log_file
from aotloop.statefile.splices import Splice

CONTENT = b"one two three"
RECORDS = [[Splice(0, 3, b"1")], [Splice(2, 5, b"2"), Splice(6, 11, b"3")], [Splice(5, 5, b" 4")]]
TEXTS = [CONTENT, b"1 two three", b"1 2 3", b"1 2 3 4"]


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "state.md"
    file.write_bytes(CONTENT)
    file.chmod(0o600)
    return str(file)


def written(path: str) -> bytes:
    log = RedoLog(path)
    for record in RECORDS:
        log.append(record, CONTENT)
    return Path(log_file(path)).read_bytes()


def test_a_log_cut_off_anywhere_holds_its_whole_records_and_no_more(path: str) -> None:
    log = written(path)
    found = []
    for length in range(len(log) + 1):
        Path(log_file(path)).write_bytes(log[:length])
        found.append(content_with_log(path, CONTENT) or CONTENT)
    assert list(dict.fromkeys(found)) == TEXTS
    assert found == sorted(found, key=TEXTS.index)


def test_a_damaged_byte_ends_the_log_there(path: str) -> None:
    log = written(path)
    for place in range(len(log)):
        Path(log_file(path)).write_bytes(log[:place] + bytes([log[place] ^ 0x55]) + log[place + 1 :])
        assert (content_with_log(path, CONTENT) or CONTENT) in TEXTS[:-1]


def test_a_log_of_another_content_counts_for_nothing(path: str) -> None:
    written(path)
    assert content_with_log(path, CONTENT) == TEXTS[-1]
    assert content_with_log(path, CONTENT + b" four") is None


def test_records_of_an_earlier_log_do_not_follow_the_records_of_a_later_one(path: str) -> None:
    before = written(path)
    log = RedoLog(path)
    log.append(RECORDS[0], CONTENT)
    log.clear()
    log.append(RECORDS[0], TEXTS[0])
    now = Path(log_file(path)).read_bytes()
    later = RedoLog(path)
    later.append([Splice(0, 0, b"x")], TEXTS[1])
    begun = Path(log_file(path)).read_bytes()
    for start, content in ((now, CONTENT), (begun, TEXTS[1])):
        Path(log_file(path)).write_bytes(start + before[len(start) :])
        assert content_with_log(path, content) in (TEXTS[1], TEXTS[-1], b"x" + TEXTS[1])


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "garbage"])
def test_whatever_lies_in_its_place_is_not_followed_or_waited_for(path: str, tmp_path: Path, kind: str) -> None:
    place = Path(log_file(path))
    precious = tmp_path / "precious"
    precious.write_text("precious")
    if kind == "link":
        place.symlink_to(precious)
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.write_bytes(os.urandom(100))
    assert content_with_log(path, CONTENT) is None
    if kind == "folder":
        with pytest.raises(OSError, match=r"state\.md\.log"):
            RedoLog(path).append(RECORDS[0], CONTENT)
        return
    RedoLog(path).append(RECORDS[0], CONTENT)
    assert content_with_log(path, CONTENT) == TEXTS[1]
    assert precious.read_text() == "precious"


def test_a_log_is_no_more_readable_than_its_file(path: str) -> None:
    written(path)
    assert stat.S_IMODE(Path(log_file(path)).stat().st_mode) == 0o600


def test_a_log_that_was_removed_takes_no_more_records(path: str) -> None:
    log = RedoLog(path)
    log.append(RECORDS[0], CONTENT)
    Path(log_file(path)).unlink()
    with pytest.raises(FileNotFoundError):
        log.append(RECORDS[1], CONTENT)
    log.clear()
    log.append(RECORDS[0], CONTENT)
    assert content_with_log(path, CONTENT) == TEXTS[1]
