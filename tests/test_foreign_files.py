"""Whatever an agent puts in the place of a file: it is read whole, or refused at once, and nothing else happens."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from aotloop.foreign_files import begin_of_foreign, open_to_append, read_foreign, write_new

MOST = 1000


def hostile(folder: Path) -> dict[str, Path]:
    """What may lie in the place of a file, by name."""
    target = folder / "target"
    target.write_text("secret")
    made = {name: folder / name for name in ("link", "dangling", "fifo", "directory", "huge", "device", "socket")}
    made["link"].symlink_to(target)
    made["dangling"].symlink_to(folder / "nothing")
    os.mkfifo(made["fifo"])
    made["directory"].mkdir()
    with made["huge"].open("wb") as file:
        file.truncate(1 << 40)
    made["device"].symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket is short
        listener.bind("socket")
        os.chdir(here)
    return made


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "directory", "huge", "device", "socket"])
def test_what_is_no_plain_file_of_a_sensible_size_is_refused(tmp_path: Path, kind: str) -> None:
    place = hostile(tmp_path)[kind]
    with pytest.raises(OSError, match=r"."):
        read_foreign(place, MOST)
    if kind != "huge":
        assert begin_of_foreign(place, MOST) == b""
        with pytest.raises(OSError, match=r"."):
            os.close(open_to_append(place))
    assert (tmp_path / "target").read_text() == "secret"


def test_the_folder_of_a_file_is_no_link_either(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("a")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert read_foreign(tmp_path / "real" / "a", MOST) == b"a"
    with pytest.raises(OSError, match=r"."):
        read_foreign(tmp_path / "link" / "a", MOST)


def test_a_new_file_replaces_what_is_there_and_not_what_that_leads_to(tmp_path: Path) -> None:
    places = hostile(tmp_path)
    for kind in ("link", "dangling", "fifo", "device", "socket", "huge"):
        write_new(places[kind], b"ours")
        assert places[kind].read_bytes() == b"ours"
        assert not places[kind].is_symlink()
    assert (tmp_path / "target").read_text() == "secret"
    assert not (tmp_path / "nothing").exists()
