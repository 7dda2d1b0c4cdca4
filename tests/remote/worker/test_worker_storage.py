"""A worker's home stays below its limit: old records go first, then mirrors that were not used lately."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.remote.worker.worker_storage import make_room, remove_records, size_of

MIB = 1 << 20


def filled(folder: Path, mib: float, age: float) -> Path:
    folder.mkdir(parents=True)
    (folder / "content").write_bytes(bytes(int(mib * MIB)))
    os.utime(folder, (1_000_000 - age, 1_000_000 - age))
    return folder


def test_below_the_limit_all_stays(tmp_path: Path) -> None:
    kept = filled(tmp_path / "mirrors" / "p", 1, 10)
    assert (make_room(tmp_path, 2), kept.exists()) == ([], True)


def test_old_records_go_before_mirrors(tmp_path: Path) -> None:
    mirror = filled(tmp_path / "mirrors" / "p", 2, 100)
    old, new = (filled(tmp_path / "attempts" / f"a{age}", 1, age) for age in (50, 10))
    assert make_room(tmp_path, 3) == ["the records of 1 attempts"]
    assert (old.exists(), new.exists(), mirror.exists()) == (False, True, True)


def test_the_mirror_that_was_used_least_lately_goes_first_with_all_worktrees(tmp_path: Path) -> None:
    old, new = (filled(tmp_path / "mirrors" / name, 2, age) for name, age in (("old", 50), ("new", 10)))
    worktree = filled(tmp_path / "worktrees" / "old-1", 1, 5)
    parcel = filled(tmp_path / "parcels", 0.1, 5)
    assert make_room(tmp_path, 3) == ["the mirror of old"]
    assert [one.exists() for one in (old, new, worktree, parcel)] == [False, True, False, True]
    assert size_of(tmp_path) < 3 * MIB


def test_records_of_what_runs_stay(tmp_path: Path) -> None:
    running, over = (filled(tmp_path / "attempts" / name, 2, age) for name, age in (("r", 50), ("o", 10)))
    assert remove_records(tmp_path, 1, ["r"]) == 1
    assert (running.exists(), over.exists()) == (True, False)


def test_a_link_in_the_home_is_not_followed(tmp_path: Path) -> None:
    outside = filled(tmp_path / "outside", 4, 1)
    (tmp_path / "home" / "attempts").mkdir(parents=True)
    (tmp_path / "home" / "attempts" / "link").symlink_to(outside)
    assert make_room(tmp_path / "home", 1) == []
    assert (outside / "content").exists()
