"""The registry is written by many processes, and read whatever others put into its folder."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aotloop.app.overview.loop_list import LoopRows, list_loops
from aotloop.app.overview.loop_registry import known_loop, register, registered
from aotloop.app.session.enter import enter
from aotloop.statefile.store import Store
from tests.app.ship.features import a_feature, at
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.runner.projects import a_project


def loop_at(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return str(write_loop(folder, a_loop(atom("A1"), status="stopped")))


def records(home: Path) -> Path:
    return home / ".local" / "share" / "aotloop" / "loops"


def test_a_registered_loop_is_found_by_its_key_and_listed_once(tmp_path: Path) -> None:
    path = loop_at(tmp_path / "one")
    register(path)
    register(path)
    (known,) = registered()
    assert known_loop(known.key) == known
    assert known.path == os.path.realpath(path)
    (row,) = list_loops()
    assert (row.status, row.done, row.all, row.is_run) == ("stopped", 0, 1, False)


def test_a_run_a_session_and_a_feature_are_in_the_list(tmp_path: Path) -> None:
    for name in ("run", "session", "ship"):
        (tmp_path / name).mkdir()
    project = a_project(tmp_path / "run", atom("A1", run="true"))
    assert project.run().code == 0
    path = str(write_accepted(tmp_path / "session", a_loop(atom("A1"), status="pending", command="false")))
    assert enter(Store(path), "s-1").status == "running"
    feature = a_feature(tmp_path / "ship")
    at(feature, "brainstorm")
    rows = {row.folder: (row.kind, row.status, row.is_run) for row in list_loops()}
    assert rows == {
        str(project.root): ("loop", "completed", False),
        str(tmp_path / "session"): ("loop", "running", True),
        str(feature.root): ("feature", "running", False),
    }


def test_loops_that_register_at_the_same_time_are_all_there(tmp_path: Path) -> None:
    paths = [loop_at(tmp_path / str(number)) for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(register, paths * 3))
    assert {known.path for known in registered()} == {os.path.realpath(path) for path in paths}


def test_a_file_that_vanished_is_left_out(tmp_path: Path) -> None:
    path = loop_at(tmp_path / "one")
    register(path)
    (known,) = registered()
    Path(path).unlink()
    assert registered() == []
    assert known_loop(known.key) is None


def test_foreign_files_in_the_folder_are_ignored(tmp_path: Path, own_home: Path) -> None:
    register(loop_at(tmp_path / "one"))
    folder = records(own_home)
    (folder / "garbage.json").write_bytes(b"\xff{")
    (folder / "other.json").write_text('{"kind": "loop", "state_file": "relative", "last_driven": ""}')
    (folder / "link.json").symlink_to("/dev/zero")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    assert len(registered()) == 1


@pytest.mark.parametrize("key", ["", "..", "../../etc/passwd", "a/b", "x" * 5000, "\0", "é"])
def test_a_strange_key_names_nothing(key: str) -> None:
    assert known_loop(key) is None


def test_a_record_under_another_name_is_not_taken(tmp_path: Path, own_home: Path) -> None:
    register(loop_at(tmp_path / "one"))
    (record,) = records(own_home).iterdir()
    record.rename(record.with_name("0123456789abcdef.json"))
    assert known_loop("0123456789abcdef") is None


def test_a_name_that_is_not_text_survives(tmp_path: Path) -> None:
    path = loop_at(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")))
    register(path)
    (known,) = registered()
    assert os.fsencode(known.path) == os.fsencode(os.path.realpath(path))
    assert list_loops()[0].problem is None


def test_a_home_that_cannot_be_written_to_costs_only_the_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/proc/nothing")
    register(loop_at(tmp_path / "one"))
    assert registered() == []


def test_a_file_that_cannot_be_read_has_a_row_that_says_so(tmp_path: Path) -> None:
    path = loop_at(tmp_path / "one")
    register(path)
    rows = LoopRows()
    assert rows.now()[0].problem is None
    Path(path).write_text("no loop\n")
    assert rows.now()[0].problem
