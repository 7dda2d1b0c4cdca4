"""A lock is held by one, and by nobody once its holder is gone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop import flock
from aotloop.errors import Unavailable
from aotloop.flock import lock_file, locked_file, open_lock, try_lock, unlock_file, wait_for_lock
from tests.patience import PATIENCE


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first = lock_file(path)
    assert first is not None
    assert lock_file(path) is None
    unlock_file(path, first, remove=False)
    second = lock_file(path)
    assert second is not None
    unlock_file(path, second, remove=True)
    assert not path.exists()


def test_a_lock_that_was_removed_while_it_was_waited_for_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    really_open = os.open

    def open_then_lose(*words: object) -> int:
        descriptor = really_open(*words)  # type: ignore[arg-type]
        path.unlink()
        return descriptor

    monkeypatch.setattr(os, "open", open_then_lose)
    assert lock_file(path) is None


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "lock")
    with pytest.raises(Unavailable, match="not a regular file"):
        lock_file(tmp_path / "lock")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_gone_is_told_from_a_lock_that_is_held(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lock_file(tmp_path / "gone" / "lock")


def test_several_may_share_a_lock_that_keeps_the_exclusive_one_out(tmp_path: Path) -> None:
    first, second, third = (open_lock(tmp_path / "lock") for _ in range(3))
    try:
        assert try_lock(first, is_shared=True)
        assert try_lock(second, is_shared=True)
        assert not try_lock(third)
        assert not wait_for_lock(third, patience=0)
    finally:
        for descriptor in (first, second):
            os.close(descriptor)
    assert wait_for_lock(third, patience=PATIENCE)
    os.close(third)


def test_a_lock_goes_with_the_process_that_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = "import sys; from aotloop.flock import lock_file; print(lock_file(sys.argv[1]), flush=True); input()"
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() != b"None\n"
        assert lock_file(path) is None
        holder.kill()
    with locked_file(path, patience=PATIENCE, what="testing"):
        pass


def test_only_this_module_calls_flock() -> None:
    sources = Path(flock.__file__).parent
    callers = [
        path
        for path in sources.rglob("*.py")
        if re.search(r"\bfcntl\.(flock|lockf)\b|from fcntl\b", path.read_text("utf-8"))
    ]
    assert callers == [Path(flock.__file__)]


def test_waiting_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked_file(path, patience=1, what="testing"):  # noqa: SIM117 - one within the other
        with pytest.raises(Unavailable, match="another process keeps"), locked_file(path, patience=0.1, what="testing"):
            pass
    with locked_file(path, patience=0, what="testing"):
        pass
