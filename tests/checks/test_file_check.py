"""Real files: what is found, what is not, and what cannot be told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.checks.file_check import check_file
from aotloop.checks.results import CheckResult
from aotloop.process.cancellation import Cancellation


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.touch()


def both(root: Path, path: str) -> tuple[bool | None, bool | None]:
    """Whether `file` and `not_file` pass."""
    return check_file(path, root=root).passed, check_file(path, root=root, expect_missing=True).passed


FOUND, NOTHING, NEITHER = (True, False), (False, True), (False, False)


# --- plain paths -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["a.txt", "./a.txt", "dir", "dir/", "dir/../a.txt", "exists: a.txt", " a.txt\n", "."])
def test_a_path_that_is_there(tmp_path: Path, path: str) -> None:
    make(tmp_path, "a.txt", "dir/")
    assert both(tmp_path, path) == FOUND


@pytest.mark.parametrize("path", ["b.txt", "a.txt/b", "a.txt/", "gone/b", "exists: b.txt", "exists:gone"])
def test_a_path_that_is_not_there(tmp_path: Path, path: str) -> None:
    make(tmp_path, "a.txt")
    assert both(tmp_path, path) == NOTHING


def test_an_absolute_path_is_taken_as_it_is(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "root/")
    assert both(tmp_path / "root", str(tmp_path / "a.txt")) == FOUND
    assert both(tmp_path / "root", str(tmp_path / "*.txt")) == FOUND
    assert both(tmp_path / "root", str(tmp_path / "*.md")) == NOTHING
    assert both(tmp_path, "/") == FOUND


def test_the_result_names_the_path_without_its_prefix(tmp_path: Path) -> None:
    make(tmp_path, "dist/bundle.js")
    result = check_file("exists: ./dist/bundle.js", root=tmp_path)
    assert (result.kind, result.path, result.exists) == ("file", "./dist/bundle.js", True)
    assert result.value == "exists: ./dist/bundle.js"
    assert result.evidence == "found ./dist/bundle.js"


def test_names_in_other_scripts_are_found(tmp_path: Path) -> None:
    make(tmp_path, "文書/übersicht.md", "with space/a b.txt")
    for path in ("文書/übersicht.md", "文*/ü*.md", "**/*.md", "with space/a b.txt", "with*/* b.txt"):
        assert both(tmp_path, path) == FOUND


def test_a_name_with_brackets_is_found_as_a_name(tmp_path: Path) -> None:
    make(tmp_path, "app/[id].tsx", "app/[id]/page.tsx")
    assert both(tmp_path, "app/[id].tsx") == FOUND
    assert both(tmp_path, "app/[id]/*.tsx") == FOUND
    assert both(tmp_path, "**/[id]/page.tsx") == FOUND


def test_brackets_are_a_pattern_where_no_such_name_is(tmp_path: Path) -> None:
    make(tmp_path, "app/i.tsx")
    assert both(tmp_path, "app/[id].tsx") == FOUND
    assert both(tmp_path, "app/[!id].tsx") == NOTHING


# --- patterns ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("*.py", ["setup.py"]),
        ("src/*.py", ["src/a.py"]),
        ("*/a.py", ["src/a.py"]),
        ("**/a.py", ["src/a.py", "src/deep/er/a.py"]),
        ("src/**/a.py", ["src/a.py", "src/deep/er/a.py"]),
        ("src/**/**/er/**/*.py", ["src/deep/er/a.py", "src/deep/er/b.py"]),
        ("**/deep/**", ["src/deep/er", "src/deep/er/a.py", "src/deep/er/b.py"]),
        ("src/**", ["src/a.py", "src/deep", "src/deep/er", "src/deep/er/a.py", "src/deep/er/b.py"]),
        ("src/**/", ["src/deep", "src/deep/er"]),
        ("*/", ["src"]),
        ("src/deep/../*.py", ["src/deep/../a.py"]),
        ("s??.py", []),
        ("set[t-u]p.py", ["setup.py"]),
        ("SETUP.*", []),
        ("src/*/b.py", []),
        (
            "**/**",
            [
                "setup.py",
                "src",
                "src/a.py",
                "src/deep",
                "src/deep/er",
                "src/deep/er/a.py",
                "src/deep/er/b.py",
            ],
        ),
    ],
)
def test_what_a_pattern_matches(tmp_path: Path, pattern: str, matches: list[str]) -> None:
    make(tmp_path, "setup.py", "src/a.py", "src/deep/er/a.py", "src/deep/er/b.py", ".git/a.py", ".hidden/a.py")
    result = check_file(pattern, root=tmp_path)
    assert both(tmp_path, pattern) == (FOUND if matches else NOTHING)
    if len(matches) == 1:
        assert result.evidence == f"found {matches[0]}"
    elif matches:
        assert result.evidence.startswith(f"found {len(matches)} matches: ")
        assert all(name in matches for name in result.evidence.split(": ")[1].removesuffix(", …").split(", "))


def test_evidence_names_three_matches_and_counts_the_rest(tmp_path: Path) -> None:
    make(tmp_path, *(f"{number}.txt" for number in range(1, 6)))
    assert check_file("*.txt", root=tmp_path).evidence == "found 5 matches: 1.txt, 2.txt, 3.txt, …"
    unwanted = check_file("*.txt", root=tmp_path, expect_missing=True)
    assert unwanted.evidence == "found 5 matches: 1.txt, 2.txt, 3.txt, …; nothing should be there"


def test_counting_ends_at_a_thousand(tmp_path: Path) -> None:
    make(tmp_path, *(f"{folder}/{number}" for folder in range(30) for number in range(50)))
    assert check_file("*/*", root=tmp_path).evidence.startswith("found at least 1000 matches: 0/0, 0/1, ")


def test_hidden_names_are_matched_only_by_a_pattern_that_spells_the_dot(tmp_path: Path) -> None:
    make(tmp_path, ".env", ".github/workflows/ci.yml", "a/.env")
    assert both(tmp_path, "*env") == NOTHING
    assert both(tmp_path, "**/ci.yml") == NOTHING
    assert both(tmp_path, "**/workflows/*") == NOTHING
    assert both(tmp_path, ".e*") == FOUND
    assert both(tmp_path, ".github/**/*.yml") == FOUND
    assert both(tmp_path, "**/.github/*/*.yml") == FOUND
    assert check_file("**/.env", root=tmp_path).evidence == "found 2 matches: .env, a/.env"


@pytest.mark.parametrize("folder", [".git", ".aot"])
def test_our_own_folders_are_never_searched(tmp_path: Path, folder: str) -> None:
    make(tmp_path, f"{folder}/logs/a.log", f"sub/{folder}/b.log")
    assert both(tmp_path, "**/*.log") == NOTHING
    assert both(tmp_path, ".*/logs/a.log") == NOTHING
    assert both(tmp_path, f"{folder}/logs/a.log") == FOUND


@pytest.mark.parametrize("pattern", [".git/*.lock", ".aot/**", "**/.git/*"])
def test_a_pattern_within_our_own_folders_is_not_decided(tmp_path: Path, pattern: str) -> None:
    assert both(tmp_path, pattern) == NEITHER
    assert "never searched" in check_file(pattern, root=tmp_path, expect_missing=True).evidence


def test_a_trailing_slash_asks_for_a_directory(tmp_path: Path) -> None:
    make(tmp_path, "build", "out/", "bin.d")
    assert both(tmp_path, "build/") == NOTHING
    assert check_file("build/", root=tmp_path).evidence == "build is not a directory"
    assert both(tmp_path, "out/") == FOUND
    assert both(tmp_path, "b*/") == NOTHING
    assert both(tmp_path, "o*/") == FOUND


def test_many_double_stars_visit_each_directory_once(tmp_path: Path) -> None:
    make(tmp_path, "/".join(["a"] * 60) + "/b")
    assert both(tmp_path, "/".join(["**/a"] * 12) + "/**/c") == NOTHING
    assert check_file("/".join(["**/a"] * 12) + "/**/b", root=tmp_path).passed is True


# --- symbolic links ----------------------------------------------------------------------------------------


def test_a_link_to_something_counts_as_that(tmp_path: Path) -> None:
    make(tmp_path, "real/a.txt")
    (tmp_path / "link").symlink_to("real")
    assert both(tmp_path, "link/a.txt") == FOUND
    assert both(tmp_path, "link/") == FOUND
    assert both(tmp_path, "l*/*.txt") == FOUND


def test_a_dangling_link_does_not_exist_but_is_not_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    for path in ("link", "l*", "**/link", "link/"):
        assert both(tmp_path, path) == NEITHER
        assert "link is a symbolic link to nothing" in check_file(path, root=tmp_path).evidence
        assert check_file(path, root=tmp_path).exists is False


def test_a_link_to_itself_is_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "self").symlink_to("self")
    assert both(tmp_path, "self") == NEITHER
    assert both(tmp_path, "s*") == NEITHER
    assert both(tmp_path, "self/below") == NOTHING


def test_cycles_of_links_do_not_hold_up_a_search(tmp_path: Path) -> None:
    make(tmp_path, "a/b/file.txt")
    (tmp_path / "a/b/up").symlink_to("../..")
    (tmp_path / "a/b/self").symlink_to(".")
    assert check_file("**/*.txt", root=tmp_path).evidence == "found a/b/file.txt"
    assert both(tmp_path, "**/*.md") == NOTHING
    assert both(tmp_path, "a/*/up/a/b/file.*") == FOUND


# --- what cannot be told -----------------------------------------------------------------------------------


def undecided(result: CheckResult, because: str) -> bool:
    return result.passed is False and result.exists is None and because in result.evidence


def test_what_is_in_an_unreadable_directory_is_not_decided(as_ordinary_user: Path) -> None:
    make(as_ordinary_user, "open/a.txt", "shut/b.txt")
    (as_ordinary_user / "shut").chmod(0)
    for missing in (False, True):
        for path in ("shut/b.txt", "shut/*.txt", "**/c.txt"):
            result = check_file(path, root=as_ordinary_user, expect_missing=missing)
            assert undecided(result, "could not be decided: shut"), (path, result)
            assert "Permission denied" in result.evidence


def test_what_was_found_outside_an_unreadable_directory_is_found(as_ordinary_user: Path) -> None:
    make(as_ordinary_user, "open/a.txt", "shut/")
    (as_ordinary_user / "shut").chmod(0)
    assert both(as_ordinary_user, "**/*.txt") == FOUND
    assert both(as_ordinary_user, "shut") == FOUND


def test_a_directory_that_may_be_entered_but_not_listed_is_enough_for_a_name(as_ordinary_user: Path) -> None:
    make(as_ordinary_user, "half/known/a.txt")
    (as_ordinary_user / "half").chmod(0o100)
    assert both(as_ordinary_user, "half/known/*.txt") == FOUND
    assert both(as_ordinary_user, "half/other/*.txt") == NOTHING


@pytest.mark.parametrize("path", ["", "  \n", "exists: ", "a\0b", "*\0", "\ud800", "x" * 300])
def test_a_path_that_can_name_nothing_fails_both_ways(tmp_path: Path, path: str) -> None:
    assert both(tmp_path, path) == NEITHER
    assert check_file(path, root=tmp_path).exists is None


@pytest.mark.parametrize("path", ["a", "*", "**/a"])
def test_nothing_is_proved_by_a_root_that_is_missing(tmp_path: Path, path: str) -> None:
    assert both(tmp_path / "gone", path) == NEITHER
    assert undecided(check_file(path, root=tmp_path / "gone", expect_missing=True), "there is no directory")


def test_a_cancelled_search_proves_nothing(tmp_path: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    result = check_file("**/a", root=tmp_path, expect_missing=True, cancellation=cancellation)
    assert undecided(result, "cancelled")


def test_a_name_that_is_not_utf8_can_be_printed_as_evidence(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).touch()
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    assert check_file("*.txt", root=tmp_path).evidence == "found caf�.txt"
