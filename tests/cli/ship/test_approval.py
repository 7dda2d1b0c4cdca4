"""A person agrees to the acceptance tests, stops, cancels and forces; one driver at a time; agents are no persons."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from aotloop.clock import now
from aotloop.core.phases.events import SessionBound
from aotloop.phases.receipts import tell
from tests.app.ship.features import ENOUGH, TEST_FILE, TESTS, Feature, a_feature, at, made, orders
from tests.loops import a_loop, atom, write_loop
from tests.patience import PATIENCE, until
from tests.runner.agents import Order


def hanging(folder: Path) -> Order:
    return {"hang": True, "touch": str(folder / "begun")}


def begun(feature: Feature) -> bool:
    return (feature.folder / "begun").exists()


def test_nothing_is_built_before_a_person_has_agreed_to_the_tests(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(deepen=ENOUGH))
    at(feature, "spec_test", skip_test_review=False, max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.status) == (6, "waiting"), ran.out + ran.err
    assert ran.news[-1]["next"] == ["aot ship approve", 'aot ship approve --refuse "why"']
    assert feature.ship().code == 6  # it waits, and spends nothing
    assert (feature.asked("spec_test"), feature.asked("deepen")) == (1, 0)
    shown = feature.aot("ship")
    assert shown.code == 6
    assert f"read the acceptance tests, {TEST_FILE}" in shown.out
    approved = feature.aot("ship", "approve")
    assert approved.code == 0, approved.err
    assert "approved" in approved.out
    assert feature.ship().code == 5
    assert feature.loop.phase == "deepen"


def test_tests_that_a_person_refuses_are_written_anew_with_the_reason(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(spec_test=[made({TEST_FILE: TESTS}), made({TEST_FILE: f"{TESTS}# more\n"})]))
    at(feature, "spec_test", skip_test_review=False)
    assert feature.ship().code == 6
    refused = feature.aot("ship", "approve", "--refuse", "nobody tests an empty file", "--json")
    assert (refused.code, json.loads(refused.out)["status"]) == (0, "running"), refused.err
    assert feature.ship().code == 6
    prompt = next((feature.root / ".aot/attempts").glob("spec_test-2/prompt.md")).read_text()
    assert "nobody tests an empty file" in prompt


def test_tests_that_wait_for_a_person_are_not_written_again_because_of_a_stop(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(spec_test=[made({TEST_FILE: TESTS}, "one"), made({TEST_FILE: f"{TESTS}#\n"})]))
    at(feature, "spec_test", skip_test_review=False)
    assert feature.ship().code == 6
    assert feature.aot("ship", "stop").code == 0
    again = feature.ship()
    assert (again.code, feature.loop.status, feature.asked("spec_test")) == (6, "waiting", 1), again.out + again.err
    assert [one.summary for one in feature.loop.checkpoints if one.phase == "spec_test"] == ["one"]
    assert feature.aot("ship", "stop").code == 0
    feature.commit({TEST_FILE: "true\n"})  # now they are others, which may be changed: nobody has agreed to any
    anew = feature.ship()
    assert (anew.code, feature.loop.status, feature.asked("spec_test")) == (6, "waiting", 2), anew.out + anew.err


def test_tests_that_changed_after_they_were_shown_are_not_approved(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "spec_test", skip_test_review=False)
    assert feature.ship().code == 6
    feature.commit({TEST_FILE: "false\n"})
    approved = feature.aot("ship", "approve")
    assert approved.code == 1
    assert "cannot be agreed to" in approved.err
    assert (feature.loop.phase, feature.loop.status) == ("spec_test", "running")


def test_a_stop_from_another_terminal_ends_the_agent_and_the_run(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=[hanging(tmp_path), made({"docs/x.md": "x\n"})], test=ENOUGH))
    at(feature, "compound", max_iterations=1)
    with feature.shipping() as run:
        until(lambda: begun(feature))
        second = feature.ship()
        assert second.code == 3  # it is run already
        assert "runs this loop" in second.err
        forced = feature.aot("ship", "advance", "--reason", "I am in a hurry")
        assert forced.code == 1
        stopped = feature.aot("ship", "stop", "--reason", "lunch")
        assert stopped.code == 0, stopped.err
        assert run.wait(PATIENCE) == 7
    assert (feature.loop.status, feature.loop.stop_reason, feature.loop.global_iteration) == (
        "stopped",
        "user: lunch",
        0,
    )
    assert feature.leftovers() == []
    assert feature.ship().code == 5
    assert feature.loop.phase == "test"


def test_a_stop_reaches_the_graph_and_it_goes_on_where_it_was(tmp_path: Path) -> None:
    book = orders(
        A1=[made({"docs/manual.md": "use it\n"})],
        A2=[hanging(tmp_path), made({"feature.txt": "it works\n"})],
        review=ENOUGH,
    )
    feature = a_feature(tmp_path, book)
    at(feature, "work", max_iterations=1)
    with feature.shipping() as run:
        until(lambda: begun(feature))
        assert feature.aot("ship", "stop").code == 0
        assert run.wait(PATIENCE) == 7
    assert feature.leftovers() == []
    assert feature.ship().code == 5
    assert (feature.loop.phase, feature.asked("A1"), feature.asked("A2")) == ("review", 1, 2)


def test_stopping_the_graph_stops_the_feature(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(A1=[hanging(tmp_path)]))
    at(feature, "work")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        assert (
            feature.aot("stop", "--state-file", ".claude/ship-aot-loop-state.md", "--reason", "wrong branch").code == 0
        )
        assert run.wait(PATIENCE) == 7
    assert (feature.loop.status, feature.loop.stop_reason) == ("stopped", "user: wrong branch")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_everything_and_counts_no_turn(tmp_path: Path, number: signal.Signals, code: int) -> None:
    feature = a_feature(tmp_path, orders(compound=[hanging(tmp_path)]))
    at(feature, "compound")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        run.send_signal(number)
        assert run.wait(PATIENCE) == code
    assert (feature.loop.status, feature.loop.stop_reason) == ("stopped", "user: interrupted")
    assert (feature.loop.global_iteration, feature.loop.errors) == (0, ())
    assert feature.leftovers() == []


def test_an_interrupt_in_the_middle_of_the_tests_is_no_verdict_on_them(tmp_path: Path) -> None:
    slow = made({TEST_FILE: f"touch {tmp_path}/begun\nsleep 3600\nfalse\n"})
    feature = a_feature(tmp_path, orders(spec_test=[slow]))
    at(feature, "spec_test")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        run.send_signal(signal.SIGINT)
        assert run.wait(PATIENCE) == 130
    assert (feature.loop.status, feature.loop.errors, feature.loop.tests_verdict) == ("stopped", (), None)
    assert feature.leftovers() == []


def test_a_cancelled_feature_stays_cancelled_and_the_next_one_may_begin(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=[hanging(tmp_path)], plan=ENOUGH))
    at(feature, "compound")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        assert feature.aot("ship", "another feature", "--yes").code == 3
        assert feature.aot("ship", "cancel", "nobody needs it").code == 0
        assert run.wait(PATIENCE) == 7
    assert (feature.loop.status, feature.loop.stop_reason) == ("cancelled", "user: nobody needs it")
    assert feature.ship().code == 7
    assert feature.ship("another feature", "--skip-brainstorm", "--max-iterations", "1").code == 5
    assert feature.loop.feature == "another feature"
    assert len(list((feature.root / ".aot" / "shipped").iterdir())) == 1


def test_a_feature_that_a_session_drives_is_left_to_it_unless_it_is_taken_over(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=ENOUGH))
    ground = at(feature, "compound", max_iterations=1)
    tell(ground, SessionBound(at=now(), session_id="s-1"))
    refused = feature.ship()
    assert refused.code == 1
    assert "the session s-1 drives this loop" in refused.err
    assert feature.asked("compound") == 0
    assert feature.ship("--take-over").code == 5
    assert feature.loop.session_id is None


def test_a_session_that_takes_it_over_ends_the_run(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=[hanging(tmp_path)]))
    ground = at(feature, "compound")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        tell(ground, SessionBound(at=now(), session_id="s-2", take_over=True))
        assert run.wait(PATIENCE) == 7
    assert (feature.loop.session_id, feature.loop.status) == ("s-2", "running")
    assert feature.leftovers() == []


def test_a_person_leaves_a_phase_by_force_but_not_the_tests(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "plan")
    advanced = feature.aot("ship", "advance", "--reason", "it is planned elsewhere", "--json")
    assert (advanced.code, json.loads(advanced.out)["phase"]) == (0, "spec_test"), advanced.err
    refused = feature.aot("ship", "advance", "--reason", "no tests, please")
    assert refused.code == 1
    assert "left only by its receipt" in refused.err
    assert feature.loop.phase == "spec_test"


@pytest.mark.parametrize(
    "words",
    [
        ["ship"],
        ["ship", "approve"],
        ["ship", "advance", "--reason", "x"],
        ["ship", "cancel"],
        ["ship", "stop"],
        ["ship", "receipt", "README.md"],
    ],
    ids=" ".join,
)
def test_an_attempt_of_a_loop_is_no_person(tmp_path: Path, words: list[str]) -> None:
    feature = a_feature(tmp_path)
    at(feature, "plan")
    before = feature.file.read_bytes()
    feature.environ["AOT_RUN_ID"] = "somebody"
    ran = feature.aot(*words)
    assert ran.code == 1
    assert "attempt of a loop" in ran.err
    assert feature.file.read_bytes() == before


def test_receipts_and_checkpoints_can_be_filed_by_hand(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "brainstorm")
    noted = feature.aot("ship", "checkpoint", "--summary", "half way", "--failed", "asking around")
    assert noted.code == 0, noted.err
    assert feature.loop.checkpoints[-1].failed_approaches == ("asking around",)
    refused = feature.aot("ship", "receipt", "docs/idea.md")
    assert refused.code == 1
    assert "does not exist" in refused.err
    feature.commit({"docs/idea.md": "an idea\n"})
    filed = feature.aot("ship", "receipt", "docs/idea.md", "--summary", "chosen", "--json")
    assert (filed.code, json.loads(filed.out)["phase"]) == (0, "plan"), filed.err
    assert feature.loop.checkpoints[-1].summary == "chosen"


def test_ship_keeps_its_loop_in_its_own_file_and_never_replaces_the_persons(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=ENOUGH))
    state = write_loop(feature.root, a_loop(atom("A1"), status="stopped"))
    before = state.read_bytes()
    assert feature.ship("a feature", "--skip-brainstorm", "--max-iterations", "1").code == 5
    assert state.read_bytes() == before
