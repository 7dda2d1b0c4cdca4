"""The same words are sent twice; then the wording changes, and says the same."""

from __future__ import annotations

from aotloop.agents.prompts.wordings import SAME, WORDINGS, reworded

TASK = "Write `f(x)` in f.py. It returns x + 1. An example: f(1) == 2."


def test_before_the_same_prompt_is_sent_a_third_time_the_wording_changes() -> None:
    told = [reworded(TASK, failures) for failures in range(SAME * (len(WORDINGS) + 1))]
    assert told[0] == told[1] == TASK
    assert len(set(told)) == len(WORDINGS) + 1
    assert all(told.count(one) == SAME for one in told)


def test_every_wording_has_all_the_words_of_the_task() -> None:
    for wording in WORDINGS:
        assert all(word in wording(TASK) for word in TASK.split())
        assert "one" in wording("one")
