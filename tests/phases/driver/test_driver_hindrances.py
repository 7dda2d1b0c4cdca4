"""What is nobody's fault costs no turn: agents that are busy or gone, a person's edits, a plan that makes no graph."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.app.ship.features import ENOUGH, PLAN_FILE, a_feature, at, made, orders
from tests.cli.ship.test_approval import begun, hanging
from tests.execution.test_agent_pool_fallback import says, with_two_agents
from tests.patience import PATIENCE, until
from tests.runner.agents import ANYBODY, times_asked

LEARNT = "docs/solutions/feature.md"


def test_another_agent_is_asked_in_the_place_of_one_that_is_busy(tmp_path: Path) -> None:
    config = with_two_agents(tmp_path, {ANYBODY: [says("rate_limit", retry_after=7200)]}, orders(test=ENOUGH))
    feature = a_feature(tmp_path, config=config)
    at(feature, "compound", max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "test"), ran.out + ran.err
    assert (times_asked(tmp_path, "compound", "first"), times_asked(tmp_path, "compound", "second")) == (1, 1)
    assert [one["outcome"] for one in ran.kinds("attempt_ended")] == ["must_wait", "done", "failed"]


def test_a_short_wait_is_waited_for_and_is_no_turn(tmp_path: Path) -> None:
    book = orders(compound=[says("rate_limit", retry_after=0.1), made({LEARNT: "learnt\n"})], test=ENOUGH)
    feature = a_feature(tmp_path, book)
    at(feature, "compound", max_iterations=1)
    assert feature.ship().code == 5
    assert (feature.loop.phase, feature.asked("compound")) == ("test", 2)


def test_without_anybody_to_ask_a_person_is_needed(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=[says("quota")]))
    at(feature, "compound")
    ran = feature.ship()
    assert ran.code == 6, ran.out + ran.err
    assert feature.loop.stop_reason == "blocked: scripted: it is quota"
    assert (feature.loop.global_iteration, feature.loop.errors) == (0, ())


def test_a_graph_with_nobody_to_ask_is_not_given_up_but_goes_on_later(tmp_path: Path) -> None:
    """One agent alone would have nobody to ask either."""
    feature = a_feature(tmp_path, orders(A1=[says("quota"), made({"feature.txt": "it works\n"})], review=ENOUGH))
    at(feature, "work", max_iterations=1)
    ran = feature.ship()
    assert ran.code == 6, ran.out + ran.err
    assert (feature.loop.stop_reason or "").startswith("blocked: ")
    assert (feature.loop.phase, feature.asked("work"), feature.loop.errors) == ("work", 0, ())
    assert feature.ship().code == 5
    assert (feature.loop.phase, feature.asked("A1"), feature.asked("A2"), feature.asked("work")) == ("review", 2, 1, 0)


def test_work_that_a_persons_edits_keep_from_landing_is_kept_and_lands_later(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=[{**made({LEARNT: "learnt\n"}), **waits(tmp_path)}], test=ENOUGH))
    at(feature, "compound", max_iterations=1)
    mine = feature.root / LEARNT
    with feature.shipping() as run:
        until(lambda: begun(feature))
        mine.parent.mkdir(parents=True)
        mine.write_text("mine\n")
        (tmp_path / "go").touch()
        assert run.wait(PATIENCE) == 6
    assert mine.read_text() == "mine\n"
    assert (feature.loop.stop_reason or "").startswith("blocked: ")
    mine.unlink()
    assert feature.ship().code == 5
    assert (feature.loop.phase, feature.asked("compound"), mine.read_text()) == ("test", 1, "learnt\n")


def waits(folder: Path) -> dict[str, str]:
    return {"touch": str(folder / "begun"), "after": str(folder / "go")}


def test_a_persons_own_files_hold_up_the_tests_but_cost_no_turn(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(review=ENOUGH))
    at(feature, "work", no_graph=True, max_iterations=1)
    notes = feature.root / "notes.txt"
    notes.write_text("mine\n")
    ran = feature.ship("--allow-dirty")
    assert ran.code == 6, ran.out + ran.err
    assert (feature.loop.stop_reason or "").endswith("this is not committed: notes.txt")
    assert (feature.loop.errors, feature.loop.global_iteration) == ((), 0)
    notes.unlink()
    assert feature.ship().code == 5
    assert (feature.loop.phase, feature.asked("work")) == ("review", 1)


def test_settings_that_are_not_committed_hold_up_nothing(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(review=ENOUGH))
    feature.git("rm", "--quiet", "--cached", "aot.toml")
    feature.git("commit", "--quiet", "--message=mine alone")
    at(feature, "work", max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err


def test_work_that_conflicts_with_a_commit_is_done_again_on_top_of_it(tmp_path: Path) -> None:
    again = made({LEARNT: "learnt twice\n"})
    feature = a_feature(
        tmp_path, orders(compound=[{**made({LEARNT: "learnt\n"}), **waits(tmp_path)}, again], test=ENOUGH)
    )
    at(feature, "compound", max_iterations=2)
    with feature.shipping() as run:
        until(lambda: begun(feature))
        feature.commit({LEARNT: "mine\n"})
        (tmp_path / "go").touch()
        assert run.wait(PATIENCE) == 5
    assert (feature.loop.phase, feature.asked("compound")) == ("test", 2)
    assert "compound: it conflicts with what was committed meanwhile" in (feature.root / "docs/progress.md").read_text()


def test_a_plan_that_makes_no_graph_is_left_to_one_agent(tmp_path: Path) -> None:
    """Ways to the same end that need each other are none."""
    odd = "- [ ] S1: `a.txt` (alternative: way)\n- [ ] S2: `b.txt` (alternative: way) (depends on S1)\n"
    feature = a_feature(tmp_path, orders(deepen=[made({PLAN_FILE: odd})], review=ENOUGH))
    at(feature, "deepen", max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err
    assert (feature.asked("work"), feature.asked("A1")) == (1, 0)
    assert any("no graph can be made" in one["text"] for one in ran.kinds("warning"))


def test_a_plan_that_a_person_made_prose_of_is_left_to_one_agent(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(review=ENOUGH))
    at(feature, "work", max_iterations=1)
    feature.commit({PLAN_FILE: "Just build it.\n"})
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err
    assert (feature.asked("work"), feature.asked("A1")) == (1, 0)


def test_alternatives_of_the_plan_are_alternatives_of_the_work(tmp_path: Path) -> None:
    plan = "- [ ] S1: `a.txt`, if that will do (alternative: way)\n- [ ] S2: `feature.txt` (alternative: way)\n"
    book = orders(
        deepen=[made({PLAN_FILE: plan})],
        A1=[{"answer": {"success": False, "reason": "it is not that easy"}}],
        A2=[made({"feature.txt": "it works\n"})],
        review=ENOUGH,
    )
    feature = a_feature(tmp_path, book)
    at(feature, "deepen", max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err
    assert (feature.asked("work"), feature.asked("A2")) == (0, 1)


def test_an_interrupt_while_the_graph_is_run_ends_all_of_it(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(A1=[hanging(tmp_path)]))
    at(feature, "work")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        run.send_signal(signal.SIGINT)
        assert run.wait(PATIENCE) == 130
    assert (feature.loop.status, feature.loop.stop_reason) == ("stopped", "user: interrupted")
    assert feature.leftovers() == []
