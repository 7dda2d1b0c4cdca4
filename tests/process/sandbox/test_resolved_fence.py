from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.process.sandbox.resolved_fence import RealPaths


@pytest.fixture
def links(tmp_path: Path) -> Path:
    (tmp_path / "there" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "there" / "up").symlink_to("..")
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "gone").symlink_to("nothing/at/all")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        *("", "there/deep", "link/deep", "link/deep/file", "link/up/link/deep", "round/x", "gone/x", "not/there"),
        *("link/../there", "link/./deep", "link/deep/", "link//deep", "there/deep/..", "/".join(["there"] * 600)),
    ],
)
def test_it_is_what_the_system_says(links: Path, name: str) -> None:
    real = RealPaths()
    for path in (f"{links}/{name}", f"{links}/link/up/{name}"):
        assert real(path) == os.path.realpath(path)
        assert real(path) == os.path.realpath(path), "also from memory"


def test_a_relative_path_counts_from_here(links: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(links)
    assert RealPaths()("link/deep") == str(links / "there" / "deep")


def test_another_one_sees_what_has_changed(links: Path) -> None:
    before = RealPaths()(f"{links}/link/deep")
    (links / "link").unlink()
    assert RealPaths()(f"{links}/link/deep") != before
