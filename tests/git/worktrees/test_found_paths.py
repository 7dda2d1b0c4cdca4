"""What set-up copies, links and depends on is found as a file check finds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.git.worktrees.found_paths import find_paths, outermost
from tests.git.checkouts import write


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (".env", [".env"]),
        ("./config//a.local.json", ["config/a.local.json"]),
        ("config/*.local.json", ["config/a.local.json"]),
        ("**/*.json", ["config/a.local.json", "config/deep/b.json"]),
        ("config/**", ["config/[id].ts", "config/a.local.json", "config/deep", "config/deep/b.json", "config/i.ts"]),
        ("config/*/", ["config/deep"]),
        ("config", ["config"]),
        ("config/[id].ts", ["config/[id].ts", "config/i.ts"]),
        ("*", ["config", "gone", "way"]),
        (".*", [".env"]),
        ("way/*.json", ["way/a.local.json"]),
        ("gone", ["gone"]),
        ("missing/*", []),
        (".git/config", []),
        (".aot/*", []),
        ("CONFIG", []),
    ],
)
def test_what_a_pattern_finds(tmp_path: Path, pattern: str, found: list[str]) -> None:
    files = [".env", ".git/config", ".aot/a.json", "config/a.local.json", "config/deep/b.json", "config/.hidden.json"]
    write(tmp_path, dict.fromkeys([*files, "config/[id].ts", "config/i.ts"], ""))
    (tmp_path / "way").symlink_to("config")
    (tmp_path / "gone").symlink_to("nowhere")
    assert find_paths(tmp_path, pattern) == found


def test_what_lies_in_another_path_comes_along_with_it() -> None:
    assert outermost(["a/b", "a-b", "a/b/c", "a/bc", "d/e/f", "d"]) == ["a/b", "a/bc", "a-b", "d"]
