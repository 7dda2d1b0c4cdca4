"""The recorded answers are what they say, and the curves come from them."""

from __future__ import annotations

import pytest
from bench.real.answers import chances, models, recordings
from bench.real.bounds import knows_all, knows_others
from bench.real.curves import ahead, curve
from bench.real.policies import EXPLICIT, POLICIES, Log, repeat, retry_only
from bench.real.tasks import FOLDER, code_in, passes, tasks


def test_there_are_enough_tasks_in_three_wordings_and_all_is_small() -> None:
    assert len(tasks()) >= 60
    assert sum(bool(task.module) for task in tasks()) >= 16
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


def test_ten_edits_are_recorded_in_three_wordings() -> None:
    edits = {task.name for task in tasks() if task.module}
    recorded = {(one.model, one.task, one.phrasing) for one in recordings() if one.task in edits and one.answers}
    by_model = {
        model: sum(all((model, name, wording) in recorded for wording in range(3)) for name in edits)
        for model in models()
    }
    assert max(by_model.values()) >= 10


def test_chances_are_those_of_answers() -> None:
    assert all(0 <= chance <= 1 for model in models() for chance in chances(model))


def solved(log: Log, attempts: int) -> int:
    return sum(given.passed for given in log[:attempts])


def test_no_policy_has_more_attempts_than_another_and_none_solves_a_task_twice() -> None:
    for solve in (*POLICIES.values(), knows_others, knows_all):
        log = solve("x1")
        done = [given.task for given in log if given.passed]
        assert len(log) <= 720
        assert len(done) == len(set(done))


def test_every_policy_gets_the_same_answers_in_the_same_order() -> None:
    mine, theirs = POLICIES["aotloop"]("x2"), repeat("x2", EXPLICIT[0])
    first = {given.task: given for given in reversed(mine) if given.wording == EXPLICIT[0]}
    assert set(theirs[:72]) == set(first.values())


def test_retrying_gives_up_after_its_attempts() -> None:
    assert all(sum(given.task == task for given in retry_only("x1", 3)) <= 3 for task in range(72))


def test_ours_solves_more_than_loops_with_one_wording_at_every_budget() -> None:
    log, other = POLICIES["aotloop"]("x3"), repeat("x3")
    assert all(solved(log, 72 * budget) > solved(other, 72 * budget) for budget in range(1, 11))


def test_a_curve_counts_attempts_and_tokens() -> None:
    one, other = curve(repeat, seeds=2), curve(knows_all, seeds=2)
    assert one.means() == sorted(one.means())
    assert one.tokens() == sorted(one.tokens())
    assert one.for_tokens([0.0, 10_000.0]) == [0.0, one.means()[-1]]
    assert all(mean > 0 for mean, _ in ahead(other, one))


def test_code_is_taken_out_of_its_block() -> None:
    assert code_in("Here:\n```python\nx\n```\nDone.") == "x\n"
