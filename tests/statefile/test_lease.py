"""Who holds a loop is known by a lock that ends with its holder, never by a number in a file."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from aotloop.errors import StateFileBusy, Unavailable, remedy
from aotloop.foreign_files import write_new
from aotloop.statefile.lease import Holder, holder_of, lease, lease_file
from tests.cli.test_error_handler import without_privileges
from tests.holders import held_by_another
from tests.patience import give_way, until


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    return tmp_path / "state.md"


def test_nobody_holds_it_before_and_after(state_file: Path) -> None:
    assert holder_of(str(state_file)) is None
    with lease(str(state_file), since="2026-01-01T00:00:00Z"):
        assert holder_of(str(state_file)) == Holder(pid=os.getpid(), since="2026-01-01T00:00:00Z")
    assert holder_of(str(state_file)) is None
    assert list(state_file.parent.iterdir()) == []


@contextmanager
def a_full_disk() -> Iterator[None]:
    """A limit on file sizes makes writes fail, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_a_lease_holds_without_a_name_so_that_a_person_can_clean_up(state_file: Path) -> None:
    with ExitStack() as held:
        with a_full_disk():
            held.enter_context(lease(str(state_file)))
        assert holder_of(str(state_file)) == Holder()
    assert holder_of(str(state_file)) is None


def test_a_write_that_fails_names_its_file(tmp_path: Path) -> None:
    """Seen: `aot: the output: No space left on device` for every command on a full disk."""
    with a_full_disk(), pytest.raises(OSError) as error:
        write_new(tmp_path / "record", b"content")
    assert error.value.filename == str(tmp_path / "record")
    assert remedy(error.value) is not None


def test_a_second_holder_is_told_who_the_first_is(state_file: Path) -> None:
    with held_by_another(state_file) as other:
        assert holder_of(str(state_file)) == Holder(pid=other.pid, since="2026-01-01T00:00:00Z")
        with pytest.raises(StateFileBusy) as caught, lease(str(state_file)):
            pass
    assert caught.value.message == f"process {other.pid} runs this loop since 2026-01-01T00:00:00Z: {state_file}"
    assert caught.value.hint is not None
    assert "aot stop" in caught.value.hint


def test_running_and_redirecting_do_not_exclude_each_other(state_file: Path) -> None:
    with held_by_another(state_file, "run"), lease(str(state_file), "redirect"):
        assert holder_of(str(state_file), "redirect") is not None
        with held_by_another(state_file.with_name("other.md"), "run"):
            pass


def test_a_second_dialogue_is_told_to_wait(state_file: Path) -> None:
    with (
        held_by_another(state_file, "redirect") as other,
        pytest.raises(StateFileBusy, match=f"process {other.pid} is changing the direction") as caught,
        lease(str(state_file), "redirect"),
    ):
        pass
    assert caught.value.hint == "Finish that dialogue first, or end it."


def test_a_holder_that_is_killed_holds_nothing(state_file: Path) -> None:
    with held_by_another(state_file) as other:
        other.kill()
        other.wait()
        assert Path(lease_file(str(state_file), "run")).exists()  # it had no time to tidy up
        assert holder_of(str(state_file)) is None
        with lease(str(state_file)):
            assert holder_of(str(state_file)) == Holder(pid=os.getpid())
    assert list(state_file.parent.iterdir()) == []


def test_what_the_holder_started_does_not_inherit_it(state_file: Path) -> None:
    code = (
        "import os, subprocess, sys\n"
        "from aotloop.statefile.lease import lease\n"
        "with lease(sys.argv[1]):\n"
        "    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}\n"
        "    child = subprocess.Popen(['sleep', '60'], close_fds=False, **quiet)\n"
        "    print(child.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(state_file)], capture_output=True, check=False)
    try:
        assert Path(lease_file(str(state_file), "run")).exists()
        assert holder_of(str(state_file)) is None
    finally:
        os.kill(int(done.stdout), 9)


def test_a_link_to_the_state_file_names_the_same_loop(state_file: Path) -> None:
    state_file.touch()
    link = state_file.with_name("link.md")
    link.symlink_to(state_file)
    with held_by_another(state_file) as other:
        assert holder_of(str(link)) == Holder(pid=other.pid, since="2026-01-01T00:00:00Z")


def test_somebody_who_only_asks_keeps_nobody_from_taking_it(state_file: Path) -> None:
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            holder_of(str(state_file))
            give_way(0.001)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    try:
        for _ in range(50):
            with lease(str(state_file)):
                pass
    finally:
        ended.set()
        for asker in askers:
            asker.join()


def test_of_many_who_want_it_at_once_each_gets_it_alone(state_file: Path) -> None:
    inside: list[int] = []
    most: list[int] = []
    problems: list[BaseException] = []

    def took() -> bool:
        try:
            with lease(str(state_file)):
                inside.append(1)
                most.append(len(inside))
                inside.pop()
        except StateFileBusy:
            return False
        return True

    def take() -> None:
        try:
            until(took)
        except BaseException as error:  # noqa: BLE001 - told in the thread that asserts
            problems.append(error)

    takers = [threading.Thread(target=take) for _ in range(8)]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join()
    assert problems == []
    assert most == [1] * 8


# --- what may stand in its place ---------------------------------------------------------------------------------


def test_whoever_holds_it_is_believed_even_if_it_cannot_be_read_who(state_file: Path) -> None:
    with held_by_another(state_file):
        Path(lease_file(str(state_file), "run")).write_text("{nonsense")
        found = holder_of(str(state_file))
        assert found == Holder()
        assert found.name == "another process"
        with pytest.raises(StateFileBusy, match="another process runs this loop"), lease(str(state_file)):
            pass


def test_a_holder_whose_file_was_removed_leaves_that_of_another_alone(state_file: Path) -> None:
    with ExitStack() as held:
        ours = held.enter_context(ExitStack())
        ours.enter_context(lease(str(state_file)))
        Path(lease_file(str(state_file), "run")).unlink()
        other = held.enter_context(held_by_another(state_file))
        ours.close()
        assert holder_of(str(state_file)) == Holder(pid=other.pid, since="2026-01-01T00:00:00Z")


def test_a_link_in_its_place_is_not_followed(state_file: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    path = Path(lease_file(str(state_file), "run"))
    path.symlink_to(precious)
    assert holder_of(str(state_file)) is None
    with pytest.raises(Unavailable, match="is not a regular file"), lease(str(state_file)):
        pass
    assert precious.read_text() == "keep me"
    assert path.is_symlink()


def test_a_link_to_nowhere_in_its_place_makes_nothing_there(state_file: Path, tmp_path: Path) -> None:
    Path(lease_file(str(state_file), "run")).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable, match="is not a regular file"), lease(str(state_file)):
        pass
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_a_pipe_or_a_folder_in_its_place_keeps_nobody_waiting(state_file: Path, what: str) -> None:
    path = lease_file(str(state_file), "run")
    os.mkfifo(path) if what == "pipe" else Path(path).mkdir()
    assert holder_of(str(state_file)) is None
    with pytest.raises(Unavailable, match="is not a regular file"), lease(str(state_file)):
        pass


def test_a_folder_that_may_not_be_written_is_said_to_be_so(state_file: Path) -> None:
    code = (
        "import sys\n"
        "from aotloop.errors import Unavailable\n"
        "from aotloop.statefile.lease import holder_of, lease\n"
        "assert holder_of(sys.argv[1]) is None\n"
        "try:\n    lease(sys.argv[1]).__enter__()\nexcept Unavailable as error:\n    print(error)\n"
    )
    state_file.parent.chmod(0o555)
    try:
        done = subprocess.run(
            [*without_privileges(), sys.executable, "-c", code, str(state_file)],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        state_file.parent.chmod(0o755)
    assert done.stderr == ""
    assert "cannot be made: Permission denied\nThe folder of the state file has to be writable." in done.stdout


def test_a_lease_whose_file_was_removed_is_taken_again(state_file: Path) -> None:
    path = str(state_file)
    with lease(path) as held:
        Path(lease_file(path, "run")).unlink()
        assert holder_of(path) is None
        held.renew()
        held.renew()
        assert holder_of(path) == Holder(pid=os.getpid())
    assert not Path(lease_file(path, "run")).exists()
