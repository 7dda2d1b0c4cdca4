"""A record that aotloop did not write, or wrote for another place, counts as missing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from aotloop.trust import is_trusted, trust
from aotloop.trust.sealed_records import is_forged, keep_sealed, sealed_content

COMMANDS = ["make test"]


def the_record(home: Path) -> Path:
    (record,) = (home / ".local/share/aotloop/trusted").iterdir()
    return record


def test_whatever_is_changed_in_a_record_it_does_not_count(own_home: Path, project: Path) -> None:
    trust(str(project / "s.md"), COMMANDS)
    record = the_record(own_home)
    good = json.loads(record.read_text())
    values: list[object] = [None, "", "x", 0, [], {}, ["rm -rf /"], "a" * 64]
    forged = [{**good, key: value} for key in good for value in values if good[key] != value]
    forged += [{key: good[key] for key in good if key != left_out} for left_out in good]
    for content in [*(json.dumps(one).encode() for one in forged), b"", b"[]", b"nonsense", b"[" * 100_000]:
        record.write_bytes(content)
        assert not is_trusted(str(project / "s.md"), COMMANDS), content[:200]
        assert is_forged(record)
    record.write_text(json.dumps(good))
    assert is_trusted(str(project / "s.md"), COMMANDS)
    assert not is_forged(record)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_anything_but_a_file_in_its_place_does_not_count_and_is_not_waited_for(own_home: Path, kind: str) -> None:
    trust("/s.md", COMMANDS)
    record = the_record(own_home)
    (own_home / "copy").write_bytes(record.read_bytes())
    record.unlink()
    if kind == "link":
        record.symlink_to(own_home / "copy")
    elif kind == "fifo":
        os.mkfifo(record)
    else:
        record.mkdir()
    assert not is_trusted("/s.md", COMMANDS)


def test_a_record_counts_only_where_it_was_written(own_home: Path) -> None:
    folder = own_home / ".local/share/aotloop/trusted"
    keep_sealed(folder / "a.json", b'{"x": 1}', "it")
    (folder / "b.json").write_bytes((folder / "a.json").read_bytes())
    assert json.loads(sealed_content(folder / "a.json"))["x"] == 1
    with pytest.raises(OSError, match="not a record of ours"):
        sealed_content(folder / "b.json")


def test_records_of_the_version_before_are_sealed_once(own_home: Path) -> None:
    trust("/s.md", COMMANDS)
    record = the_record(own_home)
    old = {key: value for key, value in json.loads(record.read_text()).items() if key != "code"}
    record.write_text(json.dumps(old))
    (own_home / ".local/share/aotloop/private/key").unlink()
    assert is_trusted("/s.md", COMMANDS)
    trust("/other.md", COMMANDS)
    assert is_trusted("/s.md", COMMANDS)
    record.write_text(json.dumps(old))
    assert not is_trusted("/s.md", COMMANDS), "from now on, every record has its code"
