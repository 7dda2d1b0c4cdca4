"""A sample of the campaign about what agents leave for git."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.git_folders import attacked, variants

from aotloop.process.sandbox import is_possible

SAMPLE = [
    (".git/commondir", "forged"),
    (".git/config", "forged"),
    (".gitattributes", "forged"),
    ("dir/.git", "forged"),
    (".git/logs", "link to folder"),
    (".gitignore", "pipe"),
    ("new", "huge"),
]


@pytest.mark.skipif(not is_possible(), reason="this kernel has no Landlock")
def test_nothing_of_it_is_run_followed_waited_for_or_lost(tmp_path: Path) -> None:
    assert set(SAMPLE) <= set(variants())
    assert attacked(tmp_path / "one", SAMPLE) == ([], 0, 0)
