"""What a failure uses up, and when nothing getting smaller changes the strategy or ends the loop (DESIGN §5)."""

from __future__ import annotations

import signal
from pathlib import Path

from msgspec.structs import replace

from aotloop.core.model import Constraints
from aotloop.core.policy.turns import SHARE, patience
from tests.loops import atom
from tests.patience import PATIENCE, shell_until, until
from tests.runner.agents import ANYBODY, Order, done, fails, finds, proposes, scripted, times_asked
from tests.runner.leftovers import kept, leftovers
from tests.runner.lengths import LENGTH
from tests.runner.projects import Project, Ran, a_project, commands

PATIENT = Constraints(max_attempts=9, max_stall_count=3)
LASTING = Constraints(max_stall_count=3, max_total_attempts=99)
BEYOND = 99
"""Failures that no bad luck explains: with less of them, nothing counts as a stall."""
FAILURES = [fails(f"no {number}") for number in range(LENGTH - 1)]


def prompt(project: Project, ran: Ran, number: int) -> str:
    """Of the attempt that began as this one, counted from 0."""
    folder: str = ran.kinds("attempt_began")[number]["folder"]
    return (project.root / folder / "prompt.md").read_text()


def stalls(ran: Ran) -> list[int]:
    return [one["stall_count"] for one in ran.kinds("generation")]


# --- the ladder --------------------------------------------------------------------------------------------------


def test_a_retry_knows_what_was_learnt_and_the_trail_says_what_failed(tmp_path: Path) -> None:
    orders = {"A1": [fails("the frobnicator is rusty", write={"half": "x"}), done({"a": "a"})]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "frobnicator" not in prompt(project, ran, 0)
    assert "the frobnicator is rusty" in prompt(project, ran, 1)
    entry = project.loop.trail[0]
    assert (entry.type, entry.atom, entry.attempt, entry.reason) == ("failure", "A1", 1, "the frobnicator is rusty")
    assert (project.atom("A1").attempts, project.atom("A1").failures) == (0, 1)  # its turn is over, it is done
    assert "half" not in project.files()
    assert "A1-1" in kept(project)  # what it did is not lost, and not on the branch
    assert leftovers(project) == []


ENDINGS: dict[str, tuple[Order, str, str]] = {
    "garbage": ({"say": "I think it went well."}, "garbage", 'no JSON object with "success"'),
    "two answers in one": ({"say": '{"success": true, "success": false}'}, "garbage", "twice"),
    "crash": ({"signal": signal.SIGSEGV}, "crashed", "SIGSEGV"),
    "a claim with exit 1": (done(exit=1), "crashed", "it claims success, but: exit 1"),
    "hanging": ({"hang": True}, "timed_out", "did not end within 1 s"),
    "a probe's answer": (finds("it is fine"), "garbage", 'no JSON object with "success"'),
}


def test_whatever_is_no_result_is_a_failed_attempt_kept_as_evidence(tmp_path: Path) -> None:
    orders = {name: [{**order, "write": {"half": "x"}}] for name, (order, _, _) in ENDINGS.items()}
    project = a_project(
        tmp_path,
        *(atom(name, timeout="1s" if name == "hanging" else None) for name in ENDINGS),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_total_attempts=len(ENDINGS)),
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    ended = {one["atom"]: one["outcome"] for one in ran.kinds("attempt_ended")}
    assert ended == {name: outcome for name, (_, outcome, _) in ENDINGS.items()}
    reasons = {entry.atom: entry.reason for entry in project.loop.trail}
    assert [name for name, (_, _, words) in ENDINGS.items() if words not in reasons[name]] == []
    assert len(kept(project)) == len(ENDINGS)
    assert project.files() == {"README.md", "aot.toml"}
    assert leftovers(project) == []


def test_a_command_is_not_run_again_as_long_as_nothing_has_moved(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo x >> {tmp_path}/times; exit 1"),
        base_case="false",
        constraints=Constraints(max_attempts=5),
    )
    ran = project.run()
    assert ran.code == 4
    assert project.loop.control.stop_reason == "exhausted: nothing can start; not resolved: A1"
    assert (tmp_path / "times").read_text() == "x\n"


def test_a_command_that_failed_is_run_again_when_something_was_merged(tmp_path: Path) -> None:
    failed = f"grep retry {tmp_path}/project/.aot/events.jsonl | grep -q A1"
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo x >> {tmp_path}/times; test -f b && cp b a"),
        atom("A2", run=f"{shell_until(failed)}; echo b > b"),
        base_case="test -f a",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (tmp_path / "times").read_text() == "x\nx\n"
    assert project.files() == {"README.md", "a", "b"}


def test_what_is_exhausted_does_not_keep_others_from_finishing_and_the_base_case_is_tried_once_more(
    tmp_path: Path,
) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="exit 1"),
        atom("A2", "A1", run="echo never > never"),
        atom("B1", run="echo b > b"),
        atom("B2", "B1", run="cp b c"),
        base_case="test -f c",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.loop.control.status == "completed"
    assert project.statuses() == {"A1": "pending", "A2": "pending", "B1": "resolved", "B2": "resolved"}
    assert [one["passed"] for one in ran.kinds("verified")] == [False, True]


def test_an_attempt_that_has_to_wait_fails_nothing_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    orders: dict[str, list[Order]] = {"A1": [{"say": "429", "exit": 75}], ANYBODY: [done({"b": "b"})]}
    project = a_project(
        tmp_path, atom("A1"), atom("A2"), base_case="false", config=scripted(tmp_path, orders), constraints=PATIENT
    )
    with project.running() as process:
        until(lambda: project.statuses() == {"A1": "pending", "A2": "resolved"} and times_asked(tmp_path, "A1"))
        until(lambda: any(one.get("outcome") == "must_wait" for one in project.news()))
        assert project.loop.control.status == "running"
        assert (project.atom("A1").attempts, project.loop.trail) == (0, [])
        project.aot("stop")
        assert process.wait(PATIENCE) == 7
    assert (project.atom("A1").attempts, project.loop.control.stall_count) == (0, 0)
    assert leftovers(project) == []


# --- stalls ------------------------------------------------------------------------------------------------------


def test_generations_in_which_nothing_gets_smaller_end_the_loop(tmp_path: Path) -> None:
    orders = {"A1": [fails(f"no {number}") for number in range(99)]}
    project = a_project(
        tmp_path, atom("A1", failures=BEYOND), base_case="false", config=scripted(tmp_path, orders), constraints=LASTING
    )
    ran = project.run()
    assert ran.code == 4
    assert project.loop.control.stop_reason == "stalled: 3 generations in a row in which nothing got smaller"
    assert stalls(ran) == [1, 2, 3]
    assert times_asked(tmp_path, "A1") == 3 * LENGTH  # each as long as bad luck may explain
    assert [one["passed"] for one in ran.kinds("verified")] == [False, False]  # at the start, and once more at last
    assert leftovers(project) == []


def test_what_is_resolved_meanwhile_is_progress(tmp_path: Path) -> None:
    orders = {"A1": [fails("one"), fails("two"), fails("three"), done({"a": "a"})], "B": [done()]}
    asked = f"grep -c A1 {tmp_path}/scripted.json.asked"
    chain = [  # one for each time that A1 is tried, however long that takes
        atom(
            f"B{number}",
            *([f"B{number - 1}"] if number else []),
            run=shell_until(f"test $({asked}) -gt {number}"),
        )
        for number in range(4)
    ]
    project = a_project(
        tmp_path, atom("A1"), *chain, base_case="test -f a", config=scripted(tmp_path, orders), constraints=PATIENT
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert max(stalls(ran)) <= 1


def test_a_choice_that_was_never_selected_before_is_progress(tmp_path: Path) -> None:
    """Two choices take turns in generations of twice the length; only in the first is one of them new."""
    orders = {name: [fails(f"no {number}") for number in range(99)] for name in ("P", "Q")}
    project = a_project(
        tmp_path,
        atom("P", or_group="G", failures=BEYOND),
        atom("Q", or_group="G", failures=BEYOND),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=replace(LASTING, max_stall_count=1),
    )
    ran = project.run()
    assert ran.code == 4, ran.out
    assert stalls(ran) == [0, 1]
    assert times_asked(tmp_path, "P") + times_asked(tmp_path, "Q") == 2 * 2 * LENGTH


def test_no_stall_is_counted_while_bad_luck_may_explain_it(tmp_path: Path) -> None:
    """One has failed for longer than that, the other has not: two generations are too short for it."""
    generations = 2
    names = ("A1", "A2")
    orders = {name: [fails(f"no {number}") for number in range(99)] for name in names}
    project = a_project(
        tmp_path,
        atom("A1", failures=BEYOND),
        atom("A2"),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(
            max_stall_count=1, max_iterations=generations, max_total_attempts=2 * SHARE * generations * LENGTH
        ),
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    assert stalls(ran) == [0] * generations
    assert project.atom("A2").failures < patience(project.loop) < project.atom("A1").failures
    assert ran.kinds("attempt_began")[0]["atom"] == "A2"  # what failed less comes first


def test_growing_twice_in_a_row_without_resolving_anything_is_withdrawn_and_done_in_one_piece(tmp_path: Path) -> None:
    """The last outcome of each generation is a proposal."""
    orders = {"A1": [*FAILURES, proposes("part"), done({"a": "a"})], ANYBODY: [*FAILURES, proposes("part of a part")]}
    project = a_project(
        tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders), constraints=LASTING
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert stalls(ran)[:2] == [0, 1]
    assert ran.kinds("withdrawn")[0]["parents"] == ["A1"]
    assert project.statuses() == {"A1": "resolved"}
    last = len(ran.kinds("attempt_began")) - 1
    assert "propose its parts" in prompt(project, ran, 0)
    assert "propose its parts" not in prompt(project, ran, last)


def test_what_was_withdrawn_may_not_be_decomposed_again(tmp_path: Path) -> None:
    orders = {ANYBODY: [*FAILURES, proposes("part")]}
    few = replace(LASTING, max_total_attempts=2 * LENGTH + 1)
    project = a_project(tmp_path, atom("A1"), base_case="false", config=scripted(tmp_path, orders), constraints=few)
    ran = project.run()
    assert ran.code == 5
    assert len(ran.kinds("withdrawn")) == 1
    assert "A1 is done in one piece" in project.loop.trail[-1].reason
    assert leftovers(project) == []


def test_repairs_that_mend_nothing_end_with_patience(tmp_path: Path) -> None:
    orders = {ANYBODY: [done(summary="mended, I promise")]}
    project = a_project(
        tmp_path,
        atom("A1", run="true"),
        base_case="echo the reason why; false",
        config=scripted(tmp_path, orders),
        constraints=LASTING,
    )
    ran = project.run()
    assert ran.code == 4
    assert "the reason why" in prompt(project, ran, 1)
    assert (project.loop.control.stop_reason or "").startswith("exhausted: the base case fails, and no further attempt")
    assert [len(one["atoms"]) for one in ran.kinds("added")] == [1] * patience(project.loop)


def test_repairs_that_mend_one_item_after_the_other_lead_to_the_end(tmp_path: Path) -> None:
    orders = {ANYBODY: [done(append={"mended": "x\n"}, summary="one more")]}
    items = [f"test $(cat mended 2>/dev/null | wc -l) -ge {2 * number}" for number in (1, 2)]
    project = a_project(
        tmp_path,
        atom("A1", run="true"),
        base_case=commands(*items),
        config=scripted(tmp_path, orders),
        constraints=replace(LASTING, max_parallel_agents=1),  # with attempts enough to be patient
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    failing = [len(one["failing"]) for one in ran.kinds("verified")]
    assert failing == sorted(failing, reverse=True)
    assert set(failing) == {2, 1, 0}
