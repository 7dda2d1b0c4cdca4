"""What helps the next attempt: recorded second attempts, and first attempts with other words around a description."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from bench.convergence.recorded import DATA, PASSED
from bench.real.second import WAYS
from bench.real.tasks import FOLDER

_WORDS = {
    "nothing": "nothing new",
    "text": "the failure in three lines",
    "tests": "which tests passed, which failed",
    "wording": "another wording, by a person",
    "template": "another wording, by a template",
    "own_words": "another wording, by the model itself",
}


_ORDER = ("orig", "head", "need", "steps")
"""Of wordings, as in aotloop.agents.prompts.wordings."""


def feedback() -> Iterator[str]:
    yield from _ways()
    yield from _told()
    yield from _by_wording()
    yield from _templates()
    yield from _changes()


def _ways() -> Iterator[str]:
    """Each way after the same failed answers; and first attempts at tasks that the model mostly can do."""
    rows = _rows("second_ways.txt")
    for model in dict.fromkeys(row[0] for row in rows):
        for begin, title in (
            ("", "second attempts, each way after the same failed answers"),
            ("first_", "first attempts"),
        ):
            yield f"{model}: {title}"
            for way in WAYS:
                mine = [row for row in rows if (row[0], row[2]) == (model, begin + way)]
                passed, made = _sum(mine, 3), _sum(mine, 4)
                if made:
                    yield f"  {_WORDS[way]:<40}{passed:>4} of {made} passed"


def _told() -> Iterator[str]:
    """Second attempts that were told of the failure, and how many would have passed anyway."""
    outcomes = {name: wordings for name, *wordings in (line.split() for line in DATA.read_text().splitlines())}
    yield "second attempts of Qwen2.5-Coder-1.5B, and how many were to be expected without being told"
    for mode, words in (("text", "the text of the failure"), ("code", "that text and the failed code")):
        mine = [row for row in _rows("second_attempts.txt") if row[2] == mode]
        expected = sum(int(row[4]) * _chance(outcomes[row[0]][int(row[1])]) for row in mine)
        yield f"  {words:<40}{_sum(mine, 3):>4} of {_sum(mine, 4)}; {expected:.0f} expected"


def _by_wording() -> Iterator[str]:
    """After a failed answer in the short wording: how often the next passes, in each wording. Weighed by failures."""
    rows = [[_chance(one) for one in line.split()[1:]] for line in DATA.read_text().splitlines()]
    failed = sum(1 - row[0] for row in rows)
    yield "second attempts of Qwen2.5-Coder-1.5B to be expected to pass after a failure in the short wording"
    for number, words in enumerate(("the short wording again", "with a signature and an example", "in steps")):
        share = sum((1 - row[0]) * row[number] for row in rows) / failed
        yield f"  {words:<40}{100 * share:>4.0f} %"


def _templates() -> Iterator[str]:
    """What other words around the same description do for the smallest model."""
    rows = _rows("templates.txt")
    never = {row[0] for row in rows if row[1] == "orig" and row[2] == "0"}
    names = {"orig": "as written", "head": "to complete", "need": "simplest", "steps": "in steps"}
    yield "first attempts of SmolLM2-135M that passed"
    for key, words in names.items():
        mine = [row for row in rows if row[1] == key]
        hard = _sum([row for row in mine if row[0] in never], 2)
        told = f"of the {len(never)} tasks never solved as written: {hard}"
        yield f"  {words:<40}{_sum(mine, 2):>4} of {_sum(mine, 3)}; {told}"


def _changes() -> Iterator[str]:
    """How soon to change the words: tasks to be expected done, from the same answers."""
    chances: dict[str, dict[str, float]] = {}
    for task, wording, passed, made in _rows("templates.txt"):
        chances.setdefault(task, {})[wording] = int(passed) / int(made)
    attempts = (1, 2, 3, 4, 6, 8, 10)
    title = f"SmolLM2-135M: done of {len(chances)}; attempts"
    yield f"{title:<42}" + "".join(f"{one:>6}" for one in attempts)
    for words, same in {"the same words always": 99, "other words after two": 2, "other words after one": 1}.items():
        cells = [
            sum(1 - prod(1 - one[_ORDER[n // same % len(_ORDER)]] for n in range(most)) for one in chances.values())
            for most in attempts
        ]
        yield f"  {words:<40}" + "".join(f"{one:>6.1f}" for one in cells)


def _rows(name: str) -> list[list[str]]:
    return [line.split() for line in (FOLDER / name).read_text().splitlines()]


def _sum(rows: list[list[str]], column: int) -> int:
    return sum(int(row[column]) for row in rows)


def _chance(outcomes: str) -> float:
    return outcomes.count(PASSED) / len(outcomes)
