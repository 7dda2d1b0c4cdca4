"""Patterns overlap exactly if a path exists that both cover; where that cannot be known, they do."""

from __future__ import annotations

import re
import sys
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.core.graph.touches import overlap
from aotloop.text.patterns import matching
from tests.core.generated import thoroughly
from tests.steps import lines_run

APART = [
    ("src/auth", "src/author"),
    ("src/auth/login.py", "src/auth/logout.py"),
    ("src/*.py", "src/*.js"),
    ("src/*.py", "src/auth/login.py"),
    ("src/*.py", "tests/*.py"),
    ("src/**", "tests/**"),
    ("src/**/*.py", "src/**/*.js"),
    ("a/**/b/*.py", "a/c/*.js"),
    ("docs/?.md", "docs/10.md"),
    ("docs/[0-9].md", "docs/10.md"),
    ("a*b", "a*c"),
    ("*ab", "*b?"),
    ("src/a/x", "src/*/y"),
    ("src/**/tests/*.md", "src/a/*.py"),
    ("[a", "a"),
    ("[]", "a"),
    ("src/a.py", "**/*.js"),
    ("src/a.py", "src/**/test_*.py"),
    ("src/a.py", "src/*/b.py"),
    ("src/.env.local", "**/*.js"),
    ("日本.md", "中国.md"),
]

TOGETHER = [
    ("src/auth", "src/auth"),
    ("src/auth", "src/auth/login.py"),
    ("src/auth/", "src/auth"),
    ("src/auth", "src/auth/**"),
    ("./src//auth/./login.py", "src/auth/login.py"),
    ("src/*", "src/auth/login.py"),
    ("src/**", "src"),
    ("**", "a/b/c"),
    ("**/*.py", "src/auth/login.py"),
    ("**/*.py", "login.py"),
    ("src/**/login.py", "src/login.py"),
    ("src/**/a/**/b", "src/x/**/b"),
    ("src/*.py", "src/a*"),
    ("a*c", "ab*"),
    ("a?c", "?b?"),
    ("***", "x"),
    ("a**b", "ab"),
    ("**/**/x", "x"),
    ("docs/[0-9].md", "docs/a.md"),
    ("[!a].md", "a.md"),
    ("[]].md", "x.md"),
    ("[", "["),
    ("app/[id]/page.tsx", "app/[id]/*"),
    ("app/[id]", "app/[[]id]"),
    ("app/[id]", "app/[*"),
    ("Makefile", "makefile"),
    ("*", ".env"),
    ("conf.d", "conf.d/a.conf"),
    ("conf.*", "conf.d/a.conf"),
    ("*.d", "conf.d/a.conf"),
    ("conf.d", "conf.d/**/a.conf"),
    ("[id].d", "[id].d/a.conf"),
    ("conf.d/", "**/a.conf"),
    ("conf.d/.", "**/a.conf"),
    ("**/*.d", "etc/conf.d/**/a.conf"),
    ("release-1.2", "**/*.js"),
    (".github", "**/*.yml"),
    ("src/*", "src/**/*.js"),
    (".", "anything"),
    ("", "anything"),
    ("./", "a/b"),
    ("../elsewhere", "src/a.py"),
    ("src/../lib", "lib"),
    ("/etc/passwd", "src/a.py"),
    ("src/{a,b}.py", "docs/index.md"),
    ("caf\u00e9.md", "cafe\u0301.md"),
    ("caf?.md", "caf\u00e9.md"),
    ("caf[\u00e9e].md", "cafe\u0301.md"),
    ("Stra\u00dfe", "STRASSE"),
    ("stra?e", "stra\u00dfe"),
    ("?.md", "\u00e9.md/a.py"),
    ("\ufb01?.md", "fi.md/a.py"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_no_path_is_covered_by_both(one: str, other: str) -> None:
    assert not overlap([one], [other])
    assert not overlap([other], [one])


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_some_path_is_covered_by_both_or_may_be(one: str, other: str) -> None:
    assert overlap([one], [other])
    assert overlap([other], [one])


def test_sets_overlap_if_any_two_of_their_patterns_do() -> None:
    assert overlap(["src/a.py", "docs"], ["tests", "docs/index.md"])
    assert not overlap(["src/a.py", "docs"], ["tests", "src/b.py"])
    assert overlap(iter(["x", "src/a.py", "docs"]), iter(["tests", "docs/index.md", "y"]))


def test_who_declares_nothing_overlaps_with_nobody() -> None:
    assert not overlap([], ["**"])
    assert not overlap(["**"], [])
    assert not overlap([], [])


@pytest.mark.parametrize("last", ["b", "*b", "**"])
def test_hostile_patterns_do_not_blow_up(last: str) -> None:
    one = "/".join(["*a" * 8 + f"*{number}" for number in range(200)])
    other = "/".join(["**/" + "a*" * 8 + f"{number}*" for number in range(200)])
    cost = lines_run(lambda: overlap([one + "/" + last], [other + "/c" + last]))
    assert cost < 200 * 400 * 200


def test_long_names_and_deep_paths_are_no_problem() -> None:
    long = "*a" * 2000
    assert overlap([long], ["?" * 3000 + "*a"])
    assert not overlap([long], ["a" * 1999])
    deep = 2 * sys.getrecursionlimit()
    assert overlap(["x/" * deep], ["**/" + "x/" * deep])


# --- against the definition --------------------------------------------------------------------------------------


@cache
def covers(pattern: str) -> re.Pattern[str]:
    """The definition as a regular expression, on paths in which every name ends with a slash."""
    wild = {"*": "[^/]*", "?": "[^/]"}
    names = [
        "(?:[^/]+/)*" if name == "**" else "".join(wild.get(one, re.escape(one)) for one in name) + "/"
        for name in pattern.split("/")
    ]
    return re.compile("".join(names) + "(?:[^/]+/)*")


NAMES = ["".join(letters) for length in (1, 2) for letters in product("ab", repeat=length)]
PATHS = ["".join(f"{name}/" for name in names) for depth in range(1, 5) for names in product(NAMES, repeat=depth)]
"""For patterns of two names with two signs each: if any path is covered by both, one of these is."""

small_names = st.just("**") | st.text("ab*?", min_size=1, max_size=2)
small_patterns = st.lists(small_names, min_size=1, max_size=2).map("/".join)


@cache
def covered(pattern: str) -> frozenset[str]:
    return frozenset(path for path in PATHS if covers(pattern).fullmatch(path))


@thoroughly
@given(small_patterns, small_patterns)
def test_patterns_overlap_exactly_if_some_path_is_covered_by_both(one: str, other: str) -> None:
    assert overlap([one], [other]) == bool(covered(one) & covered(other))


names = st.text("abAB.-é[]!", min_size=1, max_size=5).filter(lambda name: name not in {".", ".."})


@st.composite
def generalised(draw: st.DrawFn, path: list[str]) -> str:
    """A pattern that covers the path."""
    kept = path[: draw(st.integers(1, len(path)))]
    parts: list[str] = []
    for name in kept:
        how = draw(st.sampled_from(["as it is", "signs", "signs", "**", "./", "**/ before"]))
        parts += ["."] * (how == "./") + ["**"] * (how == "**/ before")
        parts.append("**" if how == "**" else draw(_wilder(name)) if how == "signs" else name)
    endings = ["/", "//", "/**"] if len(kept) < len(path) else ["", "/", "//", "/**"]
    return "/".join(parts) + draw(st.sampled_from(endings))


@st.composite
def _wilder(draw: st.DrawFn, name: str) -> str:
    if "[" in name:  # where a class begins and ends would be another question
        return draw(st.sampled_from([name, name.swapcase(), "*", "?" * len(name)]))
    signs: list[str] = []
    for character in name:
        forms: list[Any] = [character, character.swapcase(), "?", "*", f"*{character}", f"{character}*"]
        forms += [f"[{character}]", f"[x{character}]"] if character not in "]!" else []
        signs.append(draw(st.sampled_from(forms)))
    return "".join(signs)


@thoroughly
@given(st.lists(names, min_size=1, max_size=4), st.data())
def test_two_patterns_that_cover_the_same_path_overlap(path: list[str], data: st.DataObject) -> None:
    one, other = data.draw(generalised(path)), data.draw(generalised(path))
    assert overlap([one], [other])
    assert overlap([one], ["/".join(path)])


signs = st.sampled_from(["a", "b", "A", "s", "ss", "é", "e\u0301", "ß", "*", "?", "[ab]", "[!a]", "[", "]"])
any_name = st.just("**") | st.lists(signs, min_size=1, max_size=3).map("".join)
any_pattern = st.lists(any_name, min_size=1, max_size=3).map("/".join)
any_path = st.lists(st.text("abAséß", min_size=1, max_size=2), min_size=1, max_size=3).map("/".join)


@thoroughly
@given(any_pattern, any_pattern, st.lists(any_path, min_size=10, max_size=40))
def test_patterns_overlap_if_protection_says_that_both_cover_a_path(one: str, other: str, paths: list[str]) -> None:
    """No name here has an extension: only such a name is taken for a file, which has nothing below."""
    if matching(matching(paths, [one]), [other]):
        assert overlap([one], [other])
