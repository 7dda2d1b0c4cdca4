"""Killed at any instant, in each phase: `aot ship` goes on, and nothing is lost, done twice or paid twice."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from aotloop.core.phases.model import PHASES, Phase
from tests.app.ship.features import ENOUGH, REVIEW_FILE, TEST_FILE, TESTS, a_feature, at, made, orders
from tests.patience import until
from tests.phases.driver.test_driver_limits import costing
from tests.runner.agents import Order
from tests.runner.projects import processes_with

FOUND = "- [ ] `feature.txt`: it does not say why\n"
MENDED = FOUND.replace("[ ]", "[x]")

ALL_PHASES = {
    "review": [made({REVIEW_FILE: FOUND})],
    "fix": [made({REVIEW_FILE: MENDED, "why.txt": "because\n"})],
    "A3": [made({"why.txt": "because\n"})],
    "A4": [made({REVIEW_FILE: MENDED})],
    "re_review": [made({REVIEW_FILE: f"{MENDED}\nLooked at.\n"})],
}
COST = 0.25
BEGIN = ("a feature", "--skip-test-review")


def asked_for(phase: Phase) -> str:
    """Whom the first attempt of a phase is made for, if the work is done as a graph."""
    return {"work": "A1", "fix": "A3"}.get(phase, phase)


def costly_orders() -> dict[str, list[Order]]:
    return {key: [costing(one, COST) for one in found] for key, found in orders(**ALL_PHASES).items()}


def test_killed_while_the_agent_of_each_phase_is_at_work(tmp_path: Path) -> None:
    book = costly_orders()
    for phase in PHASES:
        hangs: Order = {"hang": True, "touch": str(tmp_path / f"at-{phase}")}
        book[asked_for(phase)] = [hangs, *book[asked_for(phase)]]
    feature = a_feature(tmp_path, book)
    for phase in PHASES:
        with feature.shipping(*(BEGIN if phase == "brainstorm" else ())) as run:
            until((tmp_path / f"at-{phase}").exists)
            run.kill()
        assert (feature.loop.phase, feature.loop.status) == (phase, "running")
    ran = feature.ship()
    assert ran.code == 8, ran.out + ran.err
    loop = feature.loop
    assert (loop.phases_completed, loop.errors, loop.global_iteration) == (PHASES, (), 0)
    graphs = {"work": ["A1", "A2"], "fix": ["A3", "A4"]}
    assert feature.subjects() == [one for phase in PHASES for one in graphs.get(phase, [phase])]
    assert {feature.asked(asked_for(phase)) for phase in PHASES} == {2}
    assert [feature.asked(one) for one in ("A2", "A4", "work", "fix")] == [1, 1, 0, 0]
    assert loop.spent_usd == pytest.approx(COST * len(feature.subjects()))
    assert feature.leftovers() == []


def test_killed_just_after_the_work_of_each_phase_has_landed(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, costly_orders(), environ=killed_after_landing(tmp_path))
    for phase in PHASES:
        (tmp_path / "deadly").touch()
        ran = feature.ship(*((*BEGIN, "--no-graph") if phase == "brainstorm" else ()))
        assert ran.code == -signal.SIGKILL, ran.out + ran.err
        assert (feature.loop.phase, feature.loop.status) == (phase, "running")
        assert feature.subjects()[-1] == phase
    ran = feature.ship()
    assert ran.code == 8, ran.out + ran.err
    loop = feature.loop
    assert (loop.phases_completed, loop.errors, loop.global_iteration) == (PHASES, (), 0)
    assert feature.subjects() == list(PHASES)
    assert [one.phase for one in loop.checkpoints] == list(PHASES)
    assert loop.spent_usd == pytest.approx(COST * len(PHASES))
    assert feature.leftovers() == []


def killed_after_landing(folder: Path) -> dict[str, str]:
    """An environment with a git that kills whoever has it move the branch, once for each time it is made deadly."""
    script, deadly = folder / "bin" / "git", folder / "deadly"
    script.parent.mkdir()
    strike = f'rm {deadly}; "$REAL" "$@"; kill -9 $PPID; exit'
    script.write_text(
        f"#!/bin/sh\nREAL={shutil.which('git')}\n"
        f'case "$*" in *--ff-only*) if test -e {deadly}; then {strike}; fi;; esac\nexec "$REAL" "$@"\n'
    )
    script.chmod(0o755)
    return {"PATH": f"{script.parent}:{os.environ['PATH']}"}


def test_acceptance_tests_end_with_a_run_that_is_killed_and_it_goes_on(tmp_path: Path) -> None:
    slow = f"if [ -e {tmp_path}/slow ]; then touch {tmp_path}/begun; sleep 3600; fi\n{TESTS}"
    feature = a_feature(tmp_path, orders(spec_test=[made({TEST_FILE: slow})], deepen=ENOUGH))
    at(feature, "spec_test", max_iterations=1)
    (tmp_path / "slow").touch()
    with feature.shipping() as run:
        until((tmp_path / "begun").exists)
        run.kill()
    run_id = feature.news("ship_began")[-1]["run_id"]
    until(lambda: not processes_with(f"AOT_RUN_ID={run_id}\0"))
    (tmp_path / "slow").unlink()
    ran = feature.ship()
    assert (ran.code, feature.loop.phase, feature.asked("spec_test")) == (5, "deepen", 1), ran.out + ran.err


@pytest.mark.parametrize(("phase", "asked"), [("plan", "plan"), ("work", "A1")])
@pytest.mark.parametrize("word", ["stop", "cancel"])
def test_what_a_killed_run_left_does_not_outlive_a_persons_word(
    tmp_path: Path, phase: Phase, asked: str, word: str
) -> None:
    feature = a_feature(tmp_path, orders(**{asked: [{"hang": True, "touch": str(tmp_path / "begun")}]}))
    at(feature, phase)
    agents = str(tmp_path / "scripted.py")
    with feature.shipping() as run:
        until((tmp_path / "begun").exists)
        assert processes_with(agents)
        run.kill()
    ended = feature.aot("ship", word)
    assert ended.code == 0, ended.err
    assert processes_with(agents) == []
