"""`aot confirm`: a person's word on what no program decides, about this objective at this commit."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from aotloop.core.model import BaseCase, Check, ChecklistItem, Criterion, OrGroup, Verdict
from aotloop.core.objective import digest_of
from tests.cli.judged_loops import ASKED, FAST, NICE, RUNS, commit, done_but_judged, item, loop_in
from tests.cli.repairs import LIMITS, PATIENT
from tests.cli.terminal import aot, spawn, terminal
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop

# --- confirming --------------------------------------------------------------------------------------------------


def test_a_stopped_loop_is_completed_by_a_person_and_the_base_case_together(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(RUNS, NICE))
    ran = spawn("confirm", "nice", "--yes")
    assert ran.code == 0
    assert "✔ nice: a person confirmed it: as it should be\n✔ the base case holds, and the loop is completed" in ran.out
    assert ran.err == "Next: aot status\n"
    control = loop_in(path).control
    assert control.status == "completed"
    assert control.verdict is not None
    assert control.verdict.passed
    assert control.verdict.commit is not None


def test_a_loop_that_a_crash_left_running_is_completed_too(checkout: Path) -> None:
    loop = done_but_judged(NICE, status="running")
    loop.atoms.append(atom("A2", status="in_progress"))
    path = write_loop(checkout, loop)
    ran = spawn("confirm", "--all", "--json")
    assert (ran.json["completed"], ran.json["status"], ran.json["confirmed"]) == (True, "completed", ["nice"])
    assert [one.status for one in loop_in(path).atoms] == ["resolved", "pending"]


def test_words_can_be_added(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(NICE))
    assert "a person confirmed it: on a phone, too" in spawn("confirm", "nice", "--reason", "on a phone, too").out


def test_one_after_the_other_until_none_waits(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, FAST))
    first = spawn("confirm", "nice")
    assert first.code == 6
    assert "? undecided: fast\n" in first.out
    assert "aot confirm fast" in first.err
    assert loop_in(path).control.status == "stopped"
    assert spawn("confirm", "fast").code == 0
    assert loop_in(path).control.status == "completed"


def test_what_was_confirmed_counts_for_verify_too(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, FAST))
    waiting = spawn("verify")
    assert waiting.code == 6
    assert "Next: aot confirm" in waiting.err
    with held_by_another(path):
        assert spawn("confirm", "--all").code == 0
    assert spawn("verify").code == 0
    assert loop_in(path).control.status == "stopped"  # to verify is not to confirm
    assert spawn("confirm").code == 0
    assert loop_in(path).control.status == "completed"


def test_another_commit_or_another_objective_asks_again(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, FAST))
    assert spawn("confirm", "nice").code == 6
    assert "nice" not in spawn("verify", "--json").json["skipped"][0]["item"]
    commit(checkout, "more.txt")
    assert [one["item"] for one in spawn("verify", "--json").json["skipped"]] == ["nice", "fast"]
    assert spawn("confirm", "nice").code == 6
    path.write_text(path.read_text().replace("the page looks nice", "the page looks nice in print"))
    assert [one["item"] for one in spawn("verify", "--json").json["skipped"]] == ["nice", "fast"]


def test_without_git_a_confirmation_holds_for_one_evaluation(project: Path, own_home: Path) -> None:
    path = write_loop(project, done_but_judged(NICE, FAST))
    first = spawn("confirm", "nice")
    assert first.code == 6
    assert "Without git" in first.err
    assert not (own_home / ".local" / "share" / "aotloop" / "confirmed").exists()
    assert spawn("confirm", "fast").code == 6
    assert spawn("confirm", "nice", "fast").code == 0
    assert loop_in(path).control.status == "completed"


def test_a_failing_command_is_not_talked_away(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(item("runs", "false", "command"), NICE))
    ran = spawn("confirm", "--all", "--yes")
    assert ran.code == 1
    assert "the base case does not hold: runs" in ran.out
    assert loop_in(path).control.status == "stopped"
    assert [one.id for one in loop_in(path).atoms] == ["A1"]


def test_nothing_of_the_file_is_run_without_consent(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(item("runs", "touch ran.txt", "command"), NICE))
    ran = spawn("confirm", "--all")
    assert ran.code == 1
    assert "  $ touch ran.txt\n" in ran.err
    assert not (checkout / "ran.txt").exists()


def test_quality_is_judged_by_a_person_where_nobody_else_does(checkout: Path) -> None:
    rubric = (Criterion(criterion="clear", weight=0.7), Criterion(criterion="short", weight=0.3))
    check = Check(type="quality", rubric=rubric, pass_threshold=4)
    path = write_loop(checkout, done_but_judged(ChecklistItem(item="prose", check=check)))
    with terminal("confirm") as screen:
        screen.wait_for(ASKED)
        assert "at least 4 of 5, on the weighted mean of:\n  clear (weight 0.7)\n  short (weight 0.3)" in screen.text
        screen.type("y\n")
        assert screen.end() == 0
    assert loop_in(path).control.status == "completed"


def test_a_loop_that_has_not_begun_is_not_completed(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, status="pending"))
    ran = spawn("confirm", "--all")
    assert (ran.code, ran.err) == (0, "Next: aot gate\n")
    assert "✔ the base case holds; the loop is pending" in ran.out
    assert loop_in(path).control.status == "pending"


def test_a_completed_loop_says_so(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(NICE))
    assert spawn("confirm", "--all").code == 0
    assert spawn("confirm").out == "✔ the loop is already completed\n"
    assert spawn("confirm", "--json").json == {"success": True, "status": "completed"}


# --- rejecting ---------------------------------------------------------------------------------------------------


def test_what_is_rejected_becomes_work(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, FAST))
    ran = spawn("confirm", "fast", "--reject", "nice", "--reason", "the logo is upside down")
    assert ran.code == 1
    assert "✘ the base case does not hold: nice; A2 will repair it\n" in ran.out
    assert ran.err == "Next: aot run  ·  aot status\n"
    loop = loop_in(path)
    assert loop.control.status == "stopped"
    assert loop.control.verdict is not None
    assert loop.control.verdict.failing == ("nice",)
    assert loop.atoms[1].repairs == "nice"
    assert "a person disagrees: the logo is upside down" in loop.atoms[1].description


def test_who_rejects_takes_a_confirmation_back(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(NICE, FAST))
    assert spawn("confirm", "nice").code == 6
    assert spawn("confirm", "--reject", "nice", "--reason", "no").code == 1
    assert [one["item"] for one in spawn("verify", "--json").json["skipped"]] == ["nice", "fast"]


def test_while_there_is_other_work_that_comes_first(checkout: Path) -> None:
    loop = done_but_judged(NICE)
    loop.atoms.append(atom("A2"))
    path = write_loop(checkout, loop)
    for _ in range(2):
        ran = spawn("confirm", "--reject", "nice", "--reason", "no", "--json")
        assert (ran.code, ran.json["begun"], ran.json["rejected"]) == (1, [], {"nice": "no"})
    assert [one.id for one in loop_in(path).atoms] == ["A1", "A2"]


def test_to_reject_twice_makes_one_repair(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE))
    for expected in (["A2"], []):
        assert spawn("confirm", "--reject", "nice", "--reason", "no", "--json").json["begun"] == expected
    assert [one.id for one in loop_in(path).atoms] == ["A1", "A2"]


def test_when_repairs_are_used_up_another_choice_takes_over(checkout: Path) -> None:
    loop = a_loop(
        atom("A1", status="resolved", or_group="way"),
        atom("A2", or_group="way"),
        status="stopped",
        base_case=BaseCase(checklist=(NICE,)),
        or_groups={"way": OrGroup(choices=("A1", "A2"), selected="A1")},
        constraints=LIMITS,
    )
    mended = Verdict(
        passed=False,
        objective_digest=digest_of(loop.objective),
        at="t",
        failing=("nice",),
        repair_rounds={"nice": PATIENT - 1},
    )
    loop.control = replace(loop.control, verdict=mended)  # one less than patience allows
    path = write_loop(checkout, loop)
    assert spawn("confirm", "--reject", "nice", "--reason", "no", "--json").json["begun"] == ["A3"]
    assert aot("atom", "start", "A3").code == 0
    assert aot("atom", "resolve", "A3").code == 0
    assert spawn("confirm", "--reject", "nice", "--reason", "still no", "--json").json["begun"] == ["A2"]
    assert loop_in(path).or_groups["way"].selected == "A2"


def test_to_reject_needs_a_reason(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(NICE))
    ran = aot("confirm", "--reject", "nice")
    assert ran.code == 2
    assert "--reject needs --reason" in ran.err
    both = aot("confirm", "nice", "--reject", "nice", "--reason", "x")
    assert both.code == 2
    assert "nice: an item cannot be both confirmed and rejected" in both.err


def test_all_but_what_is_rejected(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(NICE, FAST))
    data = spawn("confirm", "--all", "--reject", "nice", "--reason", "no", "--json").json
    assert (data["confirmed"], data["rejected"]) == (["fast"], {"nice": "no"})


# --- while somebody runs it --------------------------------------------------------------------------------------


def test_whoever_runs_it_will_know(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(RUNS, NICE, status="running"))
    before = path.read_bytes()
    with held_by_another(path) as runner:
        ran = spawn("confirm", "nice")
        assert ran.code == 0
        assert f"process {runner.pid} runs the loop" in ran.out
        assert path.read_bytes() == before
        told = spawn("confirm", "nice", "--json").json
        assert (told["confirmed"], told["runner"]) == (["nice"], runner.pid)
    assert spawn("confirm", "--yes").code == 0
    assert loop_in(path).control.status == "completed"


def test_a_person_can_be_asked_while_somebody_runs_it(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, status="running"))
    before = path.read_bytes()
    with held_by_another(path), terminal("confirm") as screen:
        screen.wait_for(ASKED)
        screen.type("y\n")
        assert screen.end() == 0
    assert path.read_bytes() == before


def test_what_somebody_is_at_is_not_rejected(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, status="running"))
    before = path.read_bytes()
    with held_by_another(path) as runner:
        ran = spawn("confirm", "--reject", "nice", "--reason", "no")
    assert ran.code == 1
    assert f"process {runner.pid} still runs this loop" in ran.err
    assert "aot redirect --add" in ran.err
    assert path.read_bytes() == before
