"""A real run on recorded answers does what the simulator does."""

from __future__ import annotations

from bench.real.replay import expected, run, solved
from bench.real.tasks import tasks


def test_a_real_run_makes_the_same_attempts_as_the_simulator() -> None:
    chosen = [task for task in tasks() if task.name == "count_char"]
    real = run(chosen, "t0")
    assert real == expected(chosen, "t0")
    assert [given.passed for given in real] == [False, False, True]
    assert solved(real) == {0}
