"""A run's updates are in its log first: no reader, no writer and no crash sees less."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.core.model import Binding, Loop
from aotloop.errors import Unavailable
from aotloop.statefile import document, logged_store
from aotloop.statefile.durable import beside
from aotloop.statefile.logged_store import LATEST, QUIET, LoggedStore, due
from aotloop.statefile.reader import decode
from aotloop.statefile.redo_log import log_file
from aotloop.statefile.store import Store
from tests.loops import a_loop, atom, write_loop
from tests.patience import PATIENCE, give_way, until


def count_up(loop: Loop) -> int:
    loop.control = replace(loop.control, iteration=loop.control.iteration + 1)
    return loop.control.iteration


@pytest.fixture
def path(project: Path) -> Path:
    return write_loop(project, a_loop(*(atom(f"A{number}") for number in range(1, 30))))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file follows only at the end."""
    monkeypatch.setattr(logged_store, "QUIET", PATIENCE)
    monkeypatch.setattr(logged_store, "LATEST", PATIENCE)


def in_the_file(path: Path) -> int:
    return decode(path.read_bytes()).control.iteration


def in_both(path: Path) -> int:
    return Store(str(path)).load().control.iteration


def begun(path: Path) -> LoggedStore:
    """A store that has written the file once; the next updates go to the log."""
    store = LoggedStore(str(path))
    store.update(count_up)
    return store


def test_the_file_follows_a_moment_later_and_nothing_is_left_at_the_end(path: Path) -> None:
    with begun(path) as store:
        assert store.update(count_up) == 2
        assert in_both(path) == 2
        until(lambda: in_the_file(path) == 2)
        store.update(count_up)
    assert in_the_file(path) == 3
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.usefixtures("slow")
@pytest.mark.usefixtures("slow")
def test_if_the_last_updates_do_not_reach_the_file_the_run_says_so_and_they_count(path: Path) -> None:
    store = begun(path)
    store.update(count_up)
    Path(beside(str(path), "tmp")).mkdir()
    with pytest.raises(Unavailable, match="cannot be written"), store:
        pass
    assert (in_the_file(path), in_both(path)) == (1, 2)


def test_every_reader_sees_what_is_only_in_the_log(path: Path) -> None:
    with begun(path) as store:
        for number in range(2, 6):
            store.update(count_up)
            assert in_both(path) == number
            assert Store(str(path)).examine().loop == store.load()
        assert in_the_file(path) == 1
        assert not store.has_changed()


@pytest.mark.usefixtures("slow")
def test_a_writer_puts_the_log_into_the_file_and_the_run_goes_on_from_there(path: Path) -> None:
    with begun(path) as store:
        store.update(count_up)
        assert Store(str(path)).update(count_up) == 3
        assert in_the_file(path) == 3
        assert not Path(log_file(str(path))).exists()
        until(store.has_changed)  # not while it looks after its file
        assert [store.update(count_up), store.update(count_up)] == [4, 5]
        Store(str(path)).update(lambda _: None)  # it changes nothing, but the file gets everything
        assert in_the_file(path) == 5
        assert store.update(count_up) == 6
    assert in_the_file(path) == 6


@pytest.mark.usefixtures("slow")
def test_an_edit_by_hand_wins_over_what_was_logged_before_it(path: Path) -> None:
    with begun(path) as store:
        before = path.read_text()
        store.update(count_up)
        path.write_text(before.replace("do A7", "do A7 well"))
        found: list[str] = []
        store.update(lambda loop: found.extend((loop.atoms[6].description, str(count_up(loop)))))
    assert found == ["do A7 well", "2"]
    assert "do A7 well" in path.read_text()


@pytest.mark.usefixtures("slow")
def test_entries_of_every_kind_come_back_from_the_log(path: Path) -> None:
    def change(loop: Loop) -> None:
        place = count_up(loop) % 29
        loop.atoms[place] = replace(loop.atoms[place], status="resolved")
        loop.bindings[loop.atoms[place].id] = Binding(summary="ü: 'done'\n" * place, artifacts=(f"a{place}",))
        if place == 11:
            loop.atoms.append(replace(loop.atoms[0], id="A99"))
        if place == 17:
            del loop.atoms[3]

    with begun(path) as store:
        for _ in range(27):
            store.update(change)
            assert Store(str(path)).load() == store.last_written
        wanted = store.last_written
    assert decode(path.read_bytes()) == wanted


def test_a_file_whose_replacement_takes_long_follows_later(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged_store, "LATEST", PATIENCE)
    monkeypatch.setattr(logged_store, "SHARE", PATIENCE * 10**6)  # as if every replacement took long
    with begun(path) as store:
        store.update(count_up)
        until(lambda: in_the_file(path) == 2)
        store.update(count_up)
        give_way(5 * logged_store.QUIET)
        assert (in_the_file(path), in_both(path)) == (2, 3)
    assert in_the_file(path) == 3


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("cost", [0.0, 0.003, 0.05, 0.12])
def test_also_on_a_slow_disk_the_file_is_not_200_ms_behind(cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged_store, "LATEST", LATEST)
    monkeypatch.setattr(logged_store, "QUIET", QUIET)
    busy = due(10.0, 10.0 + LATEST, cost)
    assert busy + cost < 10.2
    assert busy >= 10.0 + LATEST / 2
    assert due(10.0, 10.0, 0.0) == 10.0 + QUIET


def test_a_run_reads_its_file_as_a_whole_only_when_it_begins(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when its first result makes entries where there was `{}`."""

    def resolve(loop: Loop) -> None:
        place = count_up(loop)
        loop.atoms[place] = replace(loop.atoms[place], status="resolved")
        loop.bindings[loop.atoms[place].id] = Binding(summary="done")

    path.write_text(path.read_text().replace("bindings: {}\n", "bindings: {}  # of work\n"))
    with LoggedStore(str(path)) as store:
        store.update(count_up)
        monkeypatch.setattr(document.Document, "_open", None)
        monkeypatch.setattr(document.Document, "_read_back", None)
        for _ in range(3):
            store.update(resolve)
        assert Store(str(path)).load() == store.last_written
    assert "# of work" in path.read_text()


KILLED = """
import os, signal, sys
from msgspec.structs import replace
from aotloop.statefile import document, logged_store
from aotloop.statefile.logged_store import LoggedStore

logged_store.QUIET = logged_store.LATEST = {pause}
def count_up(loop):
    loop.control = replace(loop.control, iteration=loop.control.iteration + 1)
    os.write(1, b"(%d\\n" % loop.control.iteration)
store = LoggedStore(sys.argv[1])
while True:
    store.update(count_up)
    os.write(1, b"%d)\\n" % store.last_written.control.iteration)
"""


@pytest.mark.parametrize("pause", [60.0, 0.002])
def test_a_run_that_is_killed_loses_no_update_that_it_was_told_is_written(path: Path, pause: float) -> None:
    code = KILLED.format(pause=pause)
    for lines in (9, 60):
        with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(lines)]
            process.send_signal(signal.SIGKILL)
            said += process.stdout.readlines()
        ended = [int(line[:-2]) for line in said if line.endswith(")\n")]
        begun = [int(line[1:]) for line in said if line.startswith("(") and line.endswith("\n")]
        assert ended[-1] <= in_both(path) <= begun[-1]
        assert Store(str(path)).update(count_up) == in_the_file(path) <= begun[-1] + 1
        assert not Path(log_file(str(path))).exists()


WITHOUT_ROOM = """
import resource, sys
from msgspec.structs import replace
from aotloop.statefile.logged_store import LoggedStore

def count_up(loop):
    loop.control = replace(loop.control, iteration=loop.control.iteration + 1)
with LoggedStore(sys.argv[1]) as store:
    store.update(count_up)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    for _ in range(40):
        store.update(count_up)
"""


def test_without_room_for_the_log_the_file_is_written(path: Path) -> None:
    """Python ignores SIGXFSZ: a write beyond the limit fails, as on a full disk."""
    room = str(path.stat().st_size + 500)
    subprocess.run([sys.executable, "-c", WITHOUT_ROOM, str(path), room], check=True)
    assert in_the_file(path) == 41


@pytest.mark.usefixtures("slow")
def test_a_log_that_was_removed_is_no_loss_while_the_run_lives(path: Path) -> None:
    with begun(path) as store:
        store.update(count_up)
        Path(log_file(str(path))).unlink()
        store.update(count_up)
        assert in_the_file(path) == 3
        store.update(count_up)
        assert in_both(path) == 4
