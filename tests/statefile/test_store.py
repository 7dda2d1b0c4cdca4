"""Other writers, kills at any moment, disks that fail: the file is always whole, and no update is lost."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from inspect import getsource
from pathlib import Path
from typing import IO, Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import Binding, Loop
from aotloop.errors import StateFileBusy, StateFileInvalid, StateFileMissing, Unavailable
from aotloop.statefile import durable, exchange
from aotloop.statefile.logged_store import LoggedStore
from aotloop.statefile.reader import decode
from aotloop.statefile.store import Store
from tests.loops import a_loop, as_file, atom, write_loop
from tests.patience import PATIENCE, give_way, until


def count_up(loop: Loop) -> int:
    loop.control = replace(loop.control, iteration=loop.control.iteration + 1)
    return loop.control.iteration


COUNTS = f"""
from __future__ import annotations
import sys
from msgspec.structs import replace
from aotloop.statefile.store import Store
{getsource(count_up)}
"""
"""For processes that must not import all that this file needs."""


@pytest.fixture
def path(project: Path) -> Path:
    return write_loop(project, a_loop(*(atom(f"A{number}") for number in range(1, 30))))


def leftovers(path: Path) -> list[str]:
    return [one.name for one in path.parent.iterdir() if one != path]


def test_an_update_is_written_and_returns_what_the_change_returned(path: Path) -> None:
    store = Store(str(path))
    assert store.update(count_up) == 1
    assert store.update(count_up) == 2
    assert decode(path.read_bytes()).control.iteration == 2
    assert leftovers(path) == []


def test_a_change_that_raises_writes_nothing(path: Path) -> None:
    before = path.read_bytes()

    def change(loop: Loop) -> None:
        loop.bindings["A1"] = Binding(summary="half done")
        raise RuntimeError

    store = Store(str(path))
    with pytest.raises(RuntimeError):
        store.update(change)
    assert path.read_bytes() == before
    store.update(count_up)
    assert decode(path.read_bytes()).bindings == {}


def test_a_change_that_changes_nothing_does_not_touch_the_file(path: Path) -> None:
    before = path.stat()
    Store(str(path)).update(lambda loop: loop.atoms[0])
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_that_cannot_be_understood_is_never_overwritten(path: Path) -> None:
    broken = path.read_bytes().replace(b"atoms:", b"atoms: [")
    path.write_bytes(broken)
    with pytest.raises(StateFileInvalid):
        Store(str(path)).update(count_up)
    assert path.read_bytes() == broken
    assert leftovers(path) == []


def test_a_missing_file_is_a_clear_error(project: Path) -> None:
    with pytest.raises(StateFileMissing, match="aot align"):
        Store(str(project / ".claude" / "none.md")).load()


def test_an_edit_saved_between_reading_and_writing_is_kept(path: Path) -> None:
    """An editor does not take our lock: the change is applied again, to what the editor wrote."""
    saved: list[int] = []

    def change(loop: Loop) -> None:
        if not saved:
            edited = path.read_text().replace("do A1", "do A1, as a person edited it")
            path.write_text(edited)
        saved.append(count_up(loop))

    Store(str(path)).update(change)
    loop = decode(path.read_bytes())
    assert loop.atoms[0].description == "do A1, as a person edited it"
    assert loop.control.iteration == 1
    assert saved == [1, 1]


@pytest.mark.parametrize("kind", [Store, LoggedStore])
@pytest.mark.parametrize("call", ["link", "rename"])
def test_an_edit_saved_at_the_very_moment_of_writing_is_kept(
    path: Path, call: str, kind: type[Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The editor has emptied the file when we replace it, and writes its text after that."""
    edited = path.read_text().replace("do A1", "do A1, as a person edited it")
    made = getattr(os, call)
    opened: list[IO[str]] = []

    def meanwhile(*arguments: Any, **options: Any) -> None:
        if not opened:
            opened.append(path.open("w"))
        made(*arguments, **options)

    store = kind(str(path))
    with monkeypatch.context() as patched:
        patched.setattr(os, call, meanwhile)
        with pytest.raises(StateFileInvalid):  # what it finds is the file that the editor has emptied
            store.update(count_up)
    for file in opened:
        file.write(edited)
        file.close()
    assert store.update(count_up) == 1
    loop = decode(path.read_bytes())
    assert (loop.atoms[0].description, loop.control.iteration) == ("do A1, as a person edited it", 1)
    assert leftovers(path) == []


def test_a_file_that_never_stands_still_is_given_up_with_nothing_lost(path: Path) -> None:
    def change(loop: Loop) -> None:
        path.write_bytes(path.read_bytes() + b"x")
        count_up(loop)

    with pytest.raises(StateFileBusy, match="keeps changing"):
        Store(str(path)).update(change)
    assert decode(path.read_bytes()).control.iteration == 0


def test_another_stores_update_is_seen(path: Path) -> None:
    one, other = Store(str(path)), Store(str(path))
    for _ in range(5):
        one.update(count_up)
        other.update(count_up)
    assert decode(path.read_bytes()).control.iteration == 10


def test_threads_lose_no_update(path: Path) -> None:
    def work() -> None:
        store = Store(str(path))
        for _ in range(20):
            store.update(count_up)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert decode(path.read_bytes()).control.iteration == 160


def test_a_symbolic_link_stays_a_link(project: Path, path: Path) -> None:
    link = project / "state.md"
    link.symlink_to(path)
    Store(str(link)).update(count_up)
    assert link.is_symlink()
    assert decode(path.read_bytes()).control.iteration == 1


def test_permissions_are_kept(path: Path) -> None:
    path.chmod(0o640)
    Store(str(path)).update(count_up)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_lock_that_is_not_released_is_reported_not_waited_for_without_end(path: Path) -> None:
    script = (
        "import fcntl, os, sys, time; folder = os.open(sys.argv[1], os.O_RDONLY); fcntl.flock(folder, fcntl.LOCK_EX);"
        "print('held', flush=True); time.sleep(3600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script, str(path.parent)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StateFileBusy, match="locked by another process"), durable.locked(str(path), patience=0.2):
            pass
        holder.kill()
        holder.wait()
        with durable.locked(str(path), patience=PATIENCE):  # the kernel frees it with its holder
            pass
    finally:
        holder.kill()
        holder.wait()
        if holder.stdout is not None:
            holder.stdout.close()


def test_a_full_disk_leaves_the_file_as_it_was(path: Path) -> None:
    """A limit on file sizes makes the write fail half-way, as a full disk does."""
    before = path.read_bytes()
    script = f"""
        import resource, signal
        from aotloop.errors import Unavailable
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            Store({str(path)!r}).update(count_up)
        except Unavailable as error:
            print(error.message)
    """
    done = subprocess.run(
        [sys.executable, "-c", COUNTS + textwrap.dedent(script)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cannot be written" in done.stdout
    assert "it is as it was" in done.stdout
    assert path.read_bytes() == before
    assert leftovers(path) == []


def test_a_folder_that_cannot_be_written_is_a_clear_error(path: Path) -> None:
    before = path.read_bytes()
    (path.parent / f".{path.name}.tmp").mkdir()  # what a read-only folder is to others, for root too
    with pytest.raises(Unavailable, match="cannot be written: Is a directory; it is as it was"):
        Store(str(path)).update(count_up)
    assert path.read_bytes() == before


def test_killed_at_any_instant_it_leaves_a_whole_file(path: Path) -> None:
    """A writer is killed without warning, again and again; every file it leaves is whole, and counts what it said."""
    script = f"{COUNTS}store = Store(sys.argv[1])\nwhile True: print(store.update(count_up), flush=True)\n"
    for turn in range(8):
        started = decode(path.read_bytes()).control.iteration
        writer = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2], text=True
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        give_way(0.003 * turn)
        writer.send_signal(signal.SIGKILL)
        said = [started + 1, *(int(line) for line in writer.stdout.read().split())]
        writer.wait()
        writer.stdout.close()
        written = decode(path.read_bytes()).control.iteration
        assert written in (said[-1], said[-1] + 1)
    Store(str(path)).update(count_up)
    assert leftovers(path) == []


def test_a_new_file_is_not_written_over_an_old_one(path: Path) -> None:
    data = as_file(a_loop(atom("B1")))
    with pytest.raises(Unavailable, match="exists already"):
        Store(str(path)).create(data)
    Store(str(path)).create(data, overwrite=True)
    assert path.read_bytes() == data


def test_a_new_file_that_could_not_be_read_is_not_made(project: Path) -> None:
    with pytest.raises(StateFileInvalid):
        Store(str(project / "new.md")).create(b"---\nnot: a loop\n---\n")
    assert not (project / "new.md").exists()


def test_what_is_no_regular_file_is_neither_read_nor_replaced(project: Path) -> None:
    pipe = project / ".claude" / "aot-loop-state.md"
    os.mkfifo(pipe)
    with pytest.raises(Unavailable, match="not a regular file"):
        Store(str(pipe)).load()
    with pytest.raises(Unavailable, match="not a regular file"):
        Store(str(pipe)).create(as_file(a_loop(atom("A1"))), overwrite=True)
    assert pipe.is_fifo()


def test_a_pipe_in_the_place_of_the_temporary_file_blocks_nobody(path: Path) -> None:
    os.mkfifo(path.parent / f".{path.name}.tmp")
    assert Store(str(path)).update(count_up) == 1
    assert leftovers(path) == []


def test_a_folder_that_does_not_exist_is_a_clear_error(project: Path) -> None:
    with pytest.raises(StateFileMissing, match="there is no folder"):
        Store(str(project / "nowhere" / "state.md")).update(count_up)


def test_an_error_in_the_file_says_which_file(path: Path) -> None:
    path.write_text(path.read_text().replace("atoms:", "atoms: ["))
    with pytest.raises(StateFileInvalid, match=str(path)):
        Store(str(path)).load()


# --- two changes at the same moment of the kernel's clock ---------------------------------------------------------


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands still: whatever happens to a file, it has the same time."""
    monkeypatch.setattr(exchange, "facts", lambda status: (status.st_ino, status.st_size, 0, 0))
    monkeypatch.setattr(exchange, "signature_of", lambda _: _Any())
    monkeypatch.setattr("aotloop.statefile.store.signature_of", lambda _: _Any())


class _Any:
    """Equal to every signature."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.usefixtures("coarse")
def test_an_edit_of_the_same_moment_and_length_is_kept(path: Path) -> None:
    edited = path.read_text().replace("It works", "It waits")
    saves = iter([edited])

    def change(loop: Loop) -> None:
        count_up(loop)
        for text in saves:
            path.write_text(text)

    Store(str(path)).update(change)
    assert (Store(str(path)).load().objective.goal, Store(str(path)).load().control.iteration) == ("It waits", 1)


@pytest.mark.usefixtures("coarse")
def test_an_edit_of_the_same_moment_and_length_is_seen_a_moment_later(path: Path) -> None:
    store = Store(str(path))
    store.update(count_up)
    assert not store.has_changed()
    path.write_text(path.read_text().replace("It works", "It waits"))
    until(store.has_changed)
    store.update(count_up)
    give_way(2 * exchange.TICK)
    assert not store.has_changed()
    assert store.load().objective.goal == "It waits"


@pytest.mark.parametrize("kind", [Store, LoggedStore])
def test_after_our_own_write_any_edit_is_seen_at_once_and_the_file_is_not_read_for_that(
    path: Path, kind: type[Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours has an earlier time than any later write can leave."""
    store = kind(str(path))
    store.update(count_up)
    with monkeypatch.context() as blind:
        blind.setattr(kind, "_content", None)
        assert not store.has_changed()
        path.write_text(path.read_text().replace("It works", "It waits"))
        assert store.has_changed()
    assert store.update(lambda loop: loop.objective.goal) == "It waits"


def of(count: int) -> bytes:
    return as_file(a_loop(*(atom(f"A{number}") for number in range(1, count + 1))))


def test_a_file_that_is_the_same_is_read_once(path: Path) -> None:
    path.write_bytes(of(3))
    store = Store(str(path))
    first, second = store.load(), store.load()
    assert first == second
    assert first.atoms[0] is second.atoms[0]
    first.atoms.clear()
    assert store.load() == second, "what a caller does with its loop is its own affair"
    path.write_bytes(of(4))
    assert len(store.load().atoms) == 4


def test_the_store_of_a_run_reads_nothing_again(path: Path) -> None:
    path.write_bytes(of(3))
    store = Store(str(path))
    loop = store.load()
    with LoggedStore(str(path), after=store) as logged:
        assert logged.exchange(lambda found: (found, found.atoms[0])) is loop.atoms[0]


def test_an_edit_before_the_first_update_of_a_run_counts(path: Path) -> None:
    path.write_bytes(of(3))
    store = Store(str(path))
    store.load()
    path.write_bytes(of(4))
    with LoggedStore(str(path), after=store) as logged:
        assert len(logged.exchange(lambda found: (found, found.atoms))) == 4


def test_a_file_that_is_too_large_for_any_loop_is_refused_at_once(path: Path) -> None:
    """Seen: two minutes for 200 MB, which then were no state file."""
    with path.open("wb") as file:
        file.truncate(300 << 30)
    with pytest.raises(Unavailable, match="too large"):
        Store(str(path)).load()
