"""One grammar, two ways to read it: what a search finds, and what a rule covers. All users agree."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.checks.file_check import check_file
from aotloop.git.worktrees.found_paths import find_paths
from aotloop.text.patterns import matching, parse


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
        ("/tests/a.py", {"tests/a.py"}),
        ("tests/deep/**/../a.py", set()),
        ("tests/**/../a.py", {"tests/a.py"}),
        ("setup.py/**", {"setup.py"}),
        ("{setup,Makefile}", set()),
        ("[!S]etup.py", {"setup.py"}),
        ("tests/[A-Z].py", {"tests/a.py"}),
    ],
)
def test_a_pattern_means_these_paths(pattern: str, meant: set[str]) -> None:
    paths = ["setup.py", "tests/a.py", "tests/deep/b.py", "app/[id].tsx", "src/café", "Makefile"]
    assert set(matching(paths, [pattern])) == meant


def test_a_hostile_pattern_is_no_trouble() -> None:
    """Whoever tries all ways to read it does not come to an end."""
    assert matching(["a/" * 400 + "b"], ["**/a/" * 120 + "c", "*a" * 300 + "b"]) == []


@pytest.mark.parametrize("pattern", ["", ".", "./", "/"])
def test_a_pattern_without_names_is_the_whole_project(pattern: str) -> None:
    assert matching(["setup.py", ".env", "tests/a.py"], [pattern]) == ["setup.py", ".env", "tests/a.py"]


@pytest.mark.parametrize("pattern", ["*", "**", "*/config", "**/CONFIG", ".git/**"])
def test_hidden_names_are_covered(pattern: str) -> None:
    assert matching([".git/config"], [pattern]) == [".git/config"]


def test_a_class_is_also_read_as_written() -> None:
    """Without case, `[Z-a]` is an empty range and `[!a]` excludes A."""
    assert matching(["_x", "A", "b"], ["[Z-a]x", "[!a]"]) == ["_x", "A", "b"]


def test_what_is_above_the_project_is_covered_only_by_a_pattern_that_leads_there() -> None:
    assert matching(["../lib/a.py", "lib/a.py"], ["../lib"]) == ["../lib/a.py"]
    assert matching(["../lib/a.py", "lib/a.py"], ["a/../../lib"]) == ["../lib/a.py"]
    assert matching(["../lib/a.py", "lib/a.py"], ["lib"]) == ["lib/a.py"]


# --- all users agree ---------------------------------------------------------------------------------------------

SIGNS = st.sampled_from(["a", "b", "A", "é", ".", "*", "?", "[ab]", "[!a]", "[", "]"])
names = st.text("abAé.[]", min_size=1, max_size=3).filter(lambda name: name not in {".", ".."})
plain_names = st.text("abé", min_size=1, max_size=2)
pattern_names = st.just("**") | st.lists(SIGNS, min_size=1, max_size=3).map("".join).filter(lambda name: name != "..")
patterns = st.lists(pattern_names, min_size=1, max_size=4).map("/".join)


def is_found(pattern: str, path: str) -> bool:
    parsed = parse(pattern)
    states = parsed.start()
    for name in path.split("/"):
        states = parsed.step(states, name, is_link=False)
    return parsed.is_end(states)


@st.composite
def patterns_for(draw: st.DrawFn, path: list[str]) -> str:
    """Any pattern, or a path in which some names are wildcards: otherwise hardly any would match."""
    if draw(st.booleans()):
        return draw(patterns)
    return "/".join(draw(st.sampled_from([name, name, "*", "**", name[:-1] + "?", "*" + name[1:]])) for name in path)


@given(st.lists(names, min_size=1, max_size=3), st.data())
def test_file_checks_and_set_up_find_the_same_paths(path: list[str], data: st.DataObject) -> None:
    pattern = data.draw(patterns_for(path))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        file = root.joinpath(*path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        there = ["/".join(path[:depth]) for depth in range(1, len(path) + 1)]
        found = [one for one in there if is_found(pattern, one)]
        assert find_paths(root, pattern) == found
        assert check_file(pattern, root=root).passed == bool(found or "/".join(parse(pattern).names) in {"", *there})


@given(st.lists(names, min_size=1, max_size=4), st.data())
def test_what_is_found_is_covered_with_all_below(path: list[str], data: st.DataObject) -> None:
    pattern, text = data.draw(patterns_for(path)), "/".join(path)
    if is_found(pattern, text):
        assert matching([text, f"{text}/below"], [pattern]) == [text, f"{text}/below"]


@given(st.lists(plain_names, min_size=1, max_size=4), st.data())
def test_of_plain_names_what_is_covered_is_found_or_below(path: list[str], data: st.DataObject) -> None:
    """Where neither case nor hidden names play a part, both ways to read a pattern differ only in what is below."""
    pattern = data.draw(patterns_for(path)).lower()
    named = parse(pattern).names
    start = "/".join(named[:-1] if named[-1:] == ("**",) else named)
    prefixes = ["/".join(path[:depth]) for depth in range(1, len(path) + 1)]
    is_covered = not start or any(is_found(start, prefix) for prefix in prefixes)
    assert bool(matching(["/".join(path)], [pattern])) == is_covered
