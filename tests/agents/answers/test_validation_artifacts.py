"""Only files within the tree are artifacts."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.answers.validation import artifacts_inside


@given(st.lists(st.text(max_size=20) | st.sampled_from(["..", "a/../..", "/etc", "a/b", "./c", "a//d", "../tree/x"])))
def test_whatever_is_kept_is_inside(paths: list[str]) -> None:
    root = Path("/nowhere/tree")
    kept, notes = artifacts_inside(paths, root)
    for path in kept:
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        assert path not in {"", "."}
    assert len(set(kept)) == len(kept)
    assert len(notes) <= 1


def test_an_absolute_path_into_the_tree_is_made_relative_also_by_its_real_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "tree").symlink_to("real")
    given_paths = [f"{tmp_path}/tree/a", f"{tmp_path}/real/b", f"{tmp_path}/other/c"]
    kept, notes = artifacts_inside(given_paths, tmp_path / "tree")
    assert kept == ("a", "b")
    assert len(notes) == 1
