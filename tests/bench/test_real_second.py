"""What a second attempt is told, in each way that is measured."""

from __future__ import annotations

from bench.real.second import WAYS, prompt_of
from bench.real.tasks import question, tasks

TASK = next(task for task in tasks() if task.name == "is_even")
FAILED = "def is_even(x):\n    return True\n"


def told(way: str, words: str = "Tell whether x is even.") -> str:
    return prompt_of(lambda _: words, TASK, way, FAILED)


def test_every_way_is_another_prompt_and_nothing_new_is_the_first_one() -> None:
    assert len({told(way) for way in WAYS}) == len(WAYS)
    assert told("nothing") == question(TASK, 0)


def test_a_failure_is_told_in_three_lines_at_most() -> None:
    told_about = told("text").removeprefix(question(TASK, 0))
    assert "AssertionError" in told_about
    assert len(told_about.strip().splitlines()) <= 4


def test_tests_are_told_with_what_became_of_them() -> None:
    assert "passed: " in told("tests")
    assert "failed: " in told("tests")


def test_the_models_own_words_replace_the_description_unless_it_says_nothing() -> None:
    assert told("own_words").startswith("Tell whether x is even. Answer with")
    assert told("own_words", "  ") == question(TASK, 0)
