"""Folders of agents are walked and copied: no link leads out, nothing is waited for, no depth is too deep."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from aotloop.deletion import remove_tree
from aotloop.foreign_tree import (
    begin_beneath,
    copy_beneath,
    copy_plain_files,
    fingerprint,
    status_beneath,
    walk_foreign,
)
from aotloop.process.cancellation import Cancellation
from tests.git.checkouts import nested, write
from tests.test_foreign_files import MOST, hostile


def names_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_only_plain_files_are_copied_and_only_so_many_bytes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    hostile(source)
    (source / "directory" / "inner").write_text("inner")
    copy_plain_files(source, tmp_path / "copy", MOST)
    copied = {name for name in names_in(tmp_path / "copy") if (tmp_path / "copy" / name).is_file()}
    assert copied == {"target", "directory/inner"}


def test_a_walk_sees_what_os_walk_sees_and_no_depth_ends_it(tmp_path: Path) -> None:
    write(tmp_path, {"a/b/c": "", "a/d": "", "left/out": ""})
    (tmp_path / "a" / "link").symlink_to(tmp_path / "left")
    found = {}
    for folder, folders, files in walk_foreign(tmp_path):
        folders[:] = [name for name in folders if name != "left"]
        found[os.path.relpath(folder, tmp_path)] = (sorted(folders), sorted(files))
    assert found == {".": (["a"], []), "a": (["b"], ["d", "link"]), "a/b": ([], ["c"])}
    nested(tmp_path / "left", 2_500)
    assert sum(1 for _ in walk_foreign(tmp_path / "left")) > 1_000
    remove_tree(tmp_path / "left")  # pytest itself could not
    assert list(walk_foreign(tmp_path / "missing")) == [(str(tmp_path / "missing"), [], [])]


def test_a_copy_keeps_links_as_links_and_leaves_pipes_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    made = hostile(source)
    made["huge"].unlink()
    (source / "directory" / "run.sh").write_text("true")
    (source / "directory" / "run.sh").chmod(0o755)
    copy_beneath(tmp_path, "source", tmp_path / "copy")
    assert names_in(tmp_path / "copy") == {"target", "link", "dangling", "device", "directory", "directory/run.sh"}
    assert (tmp_path / "copy" / "link").readlink() == source / "target"
    copied, original = (tmp_path / top / "directory" / "run.sh" for top in ("copy", "source"))
    assert (copied.stat().st_mode, copied.stat().st_mtime_ns) == (original.stat().st_mode, original.stat().st_mtime_ns)


@pytest.mark.parametrize("path", ["way/file", "way/deep/file", "a/way/file"])
def test_a_link_on_the_way_leads_nowhere(tmp_path: Path, path: str) -> None:
    write(tmp_path, {"outside/file": "secret", "outside/deep/file": "secret", "top/a/b": ""})
    for folder in (tmp_path / "top", tmp_path / "top" / "a"):
        (folder / "way").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="way"):
        status_beneath(tmp_path / "top", path)
    with pytest.raises(OSError, match="way"):
        copy_beneath(tmp_path / "top", path, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_copy_of_folders_that_are_nested_too_deep_is_refused(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    nested(tmp_path / "source", 300)
    with pytest.raises(OSError, match="too deep"):
        copy_beneath(tmp_path, "source", tmp_path / "copy")


def test_a_fingerprint_tells_content_mode_and_kind_and_waits_for_nothing(tmp_path: Path) -> None:
    made = hostile(tmp_path)
    prints = [fingerprint(path) for path in made.values()]
    assert len(set(prints[:2])) == 2, "links to different places differ"
    assert all(text.startswith(("link ", "cannot be read")) for text in prints)
    (tmp_path / "file").write_text("x")
    plain = fingerprint(tmp_path / "file")
    (tmp_path / "file").chmod(0o755)
    assert fingerprint(tmp_path / "file") != plain


def test_a_huge_file_or_folder_is_not_copied(tmp_path: Path) -> None:
    """A sparse file costs nothing until it is copied. The number of entries is bounded, too."""
    (tmp_path / "source").mkdir()
    with (tmp_path / "source" / "huge").open("wb") as file:
        file.truncate(60 << 30)
    for path in ("source", "source/huge"):
        with pytest.raises(OSError, match="too much"):
            copy_beneath(tmp_path, path, tmp_path / f"copy-of-{path.replace('/', '-')}")
    copied = sum(path.stat().st_blocks for path in tmp_path.glob("copy*/**/*"))
    assert copied == 0
    write(tmp_path, {f"many/{number}": "" for number in range(50)})
    with pytest.raises(OSError, match="too much"):
        copy_beneath(tmp_path, "many", tmp_path / "copy", most=100_000)


def test_a_copy_can_be_cancelled(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10_000)
    cancellation = Cancellation()
    cancellation.cancel()
    with cancellation.governing(), pytest.raises(OSError, match="cancel"):
        copy_beneath(tmp_path, "file", tmp_path / "copy")


def test_a_document_in_a_folder_is_a_plain_file_in_it(tmp_path: Path) -> None:
    """Seen: a pipe in the place of a plan stopped `aot ship`."""
    folder = tmp_path / "folder"
    folder.mkdir()
    places = hostile(folder)
    (folder / "inner").symlink_to("target")
    assert begin_beneath(folder, "inner", 3) == b"sec"
    (tmp_path / "outside").write_text("secret")
    (folder / "out").symlink_to(tmp_path / "outside")
    for name in ("dangling", "fifo", "directory", "device", "socket", "out", "../outside", "no", "a\0b"):
        assert begin_beneath(folder, name, MOST) is None, name
    assert begin_beneath(folder, places["huge"].name, MOST) == bytes(MOST)


def test_a_folder_that_is_exchanged_while_a_document_is_read_leads_nowhere(tmp_path: Path) -> None:
    write(tmp_path, {"outside/plan": "secret", "top/docs/plan": "ours"})
    docs, aside = tmp_path / "top" / "docs", tmp_path / "aside"
    is_over = threading.Event()

    def exchange() -> None:
        while not is_over.is_set():
            docs.rename(aside)
            docs.symlink_to(tmp_path / "outside")
            docs.unlink()
            aside.rename(docs)

    agent = threading.Thread(target=exchange)
    agent.start()
    try:
        seen = {begin_beneath(tmp_path / "top", "docs/plan", MOST) for _ in range(3000)}
    finally:
        is_over.set()
        agent.join()
    assert seen <= {b"ours", None}
    assert begin_beneath(tmp_path / "top", "docs/plan", MOST) == b"ours"
