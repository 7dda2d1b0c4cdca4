"""Which paths a pattern means."""

from __future__ import annotations

import pytest

from aotloop.workspace.globs import matching


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("tests/**", {"tests/a.py", "tests/deep/b.py"}),
        ("tests", {"tests/a.py", "tests/deep/b.py"}),
        ("tests/", {"tests/a.py", "tests/deep/b.py"}),
        ("*.py", {"setup.py"}),
        ("**/*.py", {"setup.py", "tests/a.py", "tests/deep/b.py"}),
        ("tests/*", {"tests/a.py", "tests/deep/b.py"}),
        ("tests/?.py", {"tests/a.py"}),
        ("[s]etup.*", {"setup.py"}),
        ("[!s]*/*.py", {"tests/a.py"}),
        ("TESTS/A.py", {"tests/a.py"}),
        ("app/[id].tsx", {"app/[id].tsx"}),
        ("src/caf\u0065\u0301", {"src/café"}),
        ("./tests/../setup.py", {"setup.py"}),
        ("[z-a", set()),
        ("**", {"setup.py", "tests/a.py", "tests/deep/b.py", "app/[id].tsx", "src/café", "Makefile"}),
        ("**/*.lock", set()),
        ("**/**/setup.py", {"setup.py"}),
        ("**/deep", {"tests/deep/b.py"}),
    ],
)
def test_a_pattern_means_these_paths(pattern: str, meant: set[str]) -> None:
    paths = ["setup.py", "tests/a.py", "tests/deep/b.py", "app/[id].tsx", "src/café", "Makefile"]
    assert set(matching(paths, [pattern])) == meant


def test_a_hostile_pattern_is_no_trouble() -> None:
    """Whoever tries all ways to read it does not come to an end."""
    assert matching(["a/" * 400 + "b"], ["**/a/" * 120 + "c", "*a" * 300 + "b"]) == []
