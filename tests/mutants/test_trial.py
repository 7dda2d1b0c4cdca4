"""A whole run on a package of a few lines: what a test notices or what never ends is killed; all else survives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from mutants.mutant import all_mutants, mutants_of
from mutants.mutant import sample as drawn_by
from mutants.report import score_of, survivors, table
from mutants.trial import Tried

ROOT = Path(__file__).parents[2]

MODULE = """
    def most(numbers):
        return max(numbers)

    def count(end):
        number = end - end
        while number < end:
            number += 1
        return number

    def never_asked(a):
        return a
"""
TESTS = """
    from hypothesis import given, strategies as st
    from some.numbers import count, most

    def test_the_most():
        assert most([1, 2]) == 2

    @given(st.integers(1, 3))
    def test_counts(end):
        assert count(end) >= end
"""
EQUIVALENT = """
    [[equivalent]]
    module = "numbers.py"
    before = "{}"
    after = "{}"
    why = "so that there is less to try"
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    for name, text in {"some/__init__.py": "", "some/numbers.py": MODULE, "tests/test_numbers.py": TESTS}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mutants", "--root", str(root), "--package", "some", "--tests", "tests"]
    paths = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, "--seconds", "1", *arguments], capture_output=True, text=True, check=False, cwd=root, env=paths
    )


def test_every_mutant_is_killed_hangs_or_survives(sample: Path) -> None:
    every = mutants_of("numbers.py", (sample / "some" / "numbers.py").read_bytes())
    wanted = {"return min(numbers)", "return None", "number -= 1", "while number <= end:"}
    left_out = [one for one in every if one.after not in wanted or one.before == "return number"]
    equivalents = sample / "equivalents.toml"
    equivalents.write_text("".join(dedent(EQUIVALENT).format(one.before, one.after) for one in left_out))
    ran = _run(sample, "--count", "0", "--json", "--equivalents", str(equivalents))
    outcomes = {(one["line"], one["after"]): (one["outcome"], one["by"]) for one in json.loads(ran.stdout)["mutants"]}
    assert outcomes == {
        (3, "return None"): ("killed", "tests/test_numbers.py::test_the_most"),
        (3, "return min(numbers)"): ("killed", "tests/test_numbers.py::test_the_most"),
        (7, "while number <= end:"): ("survived", None),
        (8, "number -= 1"): ("hung", None),
        (12, "return None"): ("survived", None),
    }
    assert ran.returncode == 1


def test_what_fails_without_a_mutant_measures_nothing(sample: Path) -> None:
    (sample / "tests" / "test_more.py").write_text("def test_it():\n    assert False\n")
    ran = _run(sample)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "the tests fail as they are: tests/test_more.py::test_it" in ran.stderr


def test_the_same_seed_draws_the_same_and_another_seed_draws_others(sample: Path) -> None:
    every = all_mutants(sample / "some")
    drawn = [[one.key for one in drawn_by(every, 3, seed)] for seed in (8, 8, 9)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 3


@pytest.mark.parametrize(("only", "modules"), [([], {"numbers.py", "more/a.py"}), (["more"], {"more/a.py"})])
def test_some_modules_or_all_of_them(sample: Path, only: list[str], modules: set[str]) -> None:
    (sample / "some" / "more").mkdir()
    (sample / "some" / "more" / "a.py").write_text("A = 1\n")
    assert {one.module for one in all_mutants(sample / "some", only)} == modules


def test_survivors_and_scores_are_told_by_module() -> None:
    one, other = mutants_of("a.py", b"A = 1\n")
    tried = [Tried(mutant=one, outcome="survived"), Tried(mutant=other, outcome="hung")]
    assert survivors(tried, "some") == ["some/a.py:1: A = 1 → A = 0"]
    assert list(table(tried))[1].split() == ["a.py", "2", "0", "1", "1", "50.0%"]
    assert str(score_of(tried)) == "1 of 2 killed, 50.0 %"
