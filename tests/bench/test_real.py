"""The recorded answers are what they say, and the curves come from them."""

from __future__ import annotations

import pytest
from bench.real.answers import chances, models, recordings
from bench.real.policies import POLICIES, at_cost
from bench.real.tasks import FOLDER, code_in, passes, tasks


def test_there_are_enough_tasks_in_three_wordings_and_all_is_small() -> None:
    assert len(tasks()) >= 60
    assert sum(bool(task.module) for task in tasks()) >= 6
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 2_000_000


@pytest.mark.parametrize("task", tasks()[-8:], ids=lambda task: task.name)
def test_a_reference_passes_its_check_and_what_was_there_does_not(task: object) -> None:
    one = next(known for known in tasks() if known is task)
    assert passes(one, one.reference)
    assert not one.module or not passes(one, one.module)


def test_a_recorded_outcome_is_what_its_check_says() -> None:
    known = {task.name: task for task in tasks()}
    for recording in recordings()[::60]:
        answer = recording.answers[0]
        assert passes(known[recording.task], recording.codes[answer.code]) == answer.ok


def test_chances_are_those_of_answers() -> None:
    assert all(0 <= chance <= 1 for model in models() for chance in chances(model))


def test_the_same_answers_for_all_and_more_attempts_solve_no_less() -> None:
    for solve in POLICIES.values():
        few, many = (solve("x1", budget).units for budget in (1, 4))
        assert few <= many


def test_a_cost_between_two_points_is_between_them() -> None:
    points = [(1, 10.0, 1.0), (2, 20.0, 2.0)]
    assert (at_cost(points, 1.5), at_cost(points, 9.0)) == (15.0, 20.0)


def test_code_is_taken_out_of_its_block() -> None:
    assert code_in("Here:\n```python\nx\n```\nDone.") == "x\n"
