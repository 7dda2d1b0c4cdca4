"""`aot confirm`: a person's word on what no program decides, about this objective at this commit."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import BaseCase, Check, ChecklistItem, CheckType, Criterion, Loop, OrGroup, Verdict
from aotloop.core.objective import digest_of
from aotloop.statefile.store import Store
from tests.cli.repairs import LIMITS, PATIENT
from tests.cli.terminal import aot, on_terminal, spawn, terminal
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop

ASKED = "Is it so? [y/n, Enter: skip] "


def item(name: str, value: str = "it is so", kind: CheckType = "assertion") -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type=kind, value=value))


NICE = item("nice", "the page looks nice")
FAST = item("fast", "pages come up at once")
RUNS = item("runs", "test -f done.txt", "command")


def done_but_judged(*items: ChecklistItem, status: str = "stopped", **more: Any) -> Loop:
    return a_loop(atom("A1", status="resolved"), status=status, base_case=BaseCase(checklist=items), **more)


def loop_in(path: Path) -> Loop:
    return Store(str(path)).load()


def commit(project: Path, name: str) -> None:
    (project / name).touch()
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", project, "add", name], check=True)
    subprocess.run(["git", "-C", project, *who, "commit", "-qm", name], check=True)


@pytest.fixture
def checkout(project: Path) -> Path:
    subprocess.run(["git", "init", "-q", project], check=True)
    commit(project, "done.txt")
    return project


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
    assert spawn("confirm").out == "✔ the loop is completed already\n"
    assert spawn("confirm", "--json").json == {"success": True, "status": "completed"}


# --- asking ------------------------------------------------------------------------------------------------------


def test_on_a_terminal_a_person_is_asked_about_each(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(RUNS, NICE, FAST))
    with terminal("confirm", "--yes") as screen:
        screen.wait_for(ASKED)
        assert "✔ runs: exit 0" in screen.text
        assert "nice\n  the page looks nice\n" in screen.text
        screen.shown = ""
        screen.type("perhaps\n")
        screen.wait_for(ASKED)
        screen.shown = ""
        screen.type("y\n")
        screen.wait_for(f"fast\n  pages come up at once\n{ASKED}")
        screen.type("yes\n")
        assert screen.end() == 0
    assert "✔ the base case holds, and the loop is completed" in screen.text
    assert loop_in(path).control.status == "completed"


def test_who_skips_is_asked_again_next_time(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, FAST))
    with terminal("confirm") as screen:
        screen.wait_for(ASKED)
        screen.type("y\n")
        screen.wait_for("pages come up at once")
        screen.type("\n")
        assert screen.end() == 6
    assert "? undecided: fast" in screen.text
    with terminal("confirm") as screen:
        screen.wait_for(ASKED)
        assert "nice\n" not in screen.text
        screen.type("\x04")
        assert screen.end() == 6
    assert loop_in(path).control.status == "stopped"


def test_ctrl_c_says_nothing_about_anything(checkout: Path, own_home: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, FAST))
    with terminal("confirm") as screen:
        screen.wait_for(ASKED)
        screen.type("y\n")
        screen.wait_for("pages come up at once")
        screen.type("\x03")
        assert screen.end() == 130
    assert not (own_home / ".local" / "share" / "aotloop" / "confirmed").exists()
    assert loop_in(path).control.status == "stopped"


def test_a_word_about_files_that_changed_meanwhile_counts_for_nothing(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE))
    with terminal("confirm", columns=200) as screen:
        screen.wait_for(ASKED)
        commit(checkout, "more.txt")
        screen.type("y\n")
        assert screen.end() == 1
    assert "changed while you decided" in screen.text
    assert loop_in(path).control.status == "stopped"
    assert spawn("verify").code == 6


def test_without_a_terminal_what_waits_is_listed(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(RUNS, NICE, FAST))
    ran = spawn("confirm", "--yes")
    assert ran.code == 6
    assert "? undecided: nice, fast\n" in ran.out
    assert "aot confirm nice  ·  aot confirm fast  ·  aot confirm --all" in ran.err
    data = spawn("confirm", "--json").json
    assert [(one["item"], one["value"]) for one in data["skipped"]] == [
        ("nice", "the page looks nice"),
        ("fast", "pages come up at once"),
    ]
    code, screen = on_terminal("confirm", "--json")
    assert code == 6
    assert ASKED not in screen.text
    assert loop_in(path).control.status == "stopped"


def test_nobody_is_asked_about_what_fails_anyway(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(item("runs", "false", "command"), NICE))
    code, screen = on_terminal("confirm", "--yes")
    assert code == 1
    assert ASKED not in screen.text


# --- naming items ------------------------------------------------------------------------------------------------


def nested() -> Loop:
    looks = ChecklistItem(item="looks", group=(item("nice", "third"), item("own", "fourth")))
    either = ChecklistItem(item="either", any_of=(item("runs", "false", "command"), item("nice", "fifth")))
    return done_but_judged(item("nice", "first"), item("nice", "second"), looks, either)


@pytest.mark.parametrize(
    ("name", "confirmed"),
    [
        ("nice", "nice"),
        ("nice (2)", "nice (2)"),
        ("looks / nice", "looks / nice"),
        ("either / nice", "either / nice"),
        ("own", "looks / own"),
    ],
)
def test_the_item_that_is_named_is_the_one_that_is_meant(checkout: Path, name: str, confirmed: str) -> None:
    write_loop(checkout, nested())
    data = spawn("confirm", name, "--yes", "--json").json
    assert data["confirmed"] == [confirmed]
    waiting = {one["item"] for one in data["skipped"]}
    everything = {"nice", "nice (2)", "looks / nice", "looks / own", "either / nice"}
    assert waiting == everything - {confirmed}


@pytest.mark.parametrize(
    ("name", "told", "hint"),
    [
        ("nise", "there is no item nise", "Did you mean 'nice'?"),
        ("zzz", "there is no item zzz", "There are: 'nice', 'nice (2)', 'looks / nice', 'looks / own'"),
        ("runs", "runs is decided by a program (command)", "aot verify"),
    ],
)
def test_names_that_mean_nothing_are_told_from_those_that_do(checkout: Path, name: str, told: str, hint: str) -> None:
    path = write_loop(checkout, nested())
    before = path.read_bytes()
    for words in ([name], ["--reject", name, "--reason", "x"]):
        ran = aot("confirm", *words, "--json")
        assert ran.code == 1
        assert told in ran.json["error"]
        assert hint in ran.json["hint"]
    assert path.read_bytes() == before


def test_a_last_name_that_several_have_is_not_enough(checkout: Path) -> None:
    groups = [ChecklistItem(item=name, group=(item("ok", name),)) for name in ("one", "two")]
    write_loop(checkout, done_but_judged(*groups))
    ran = aot("confirm", "ok")
    assert ran.code == 1
    assert "ok could be any of 2 items\n     Name it in full: 'one / ok', 'two / ok'." in ran.err


def test_a_base_case_without_judged_items_needs_nobodys_word(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(RUNS))
    assert "no item of the base case waits for a person" in aot("confirm", "nice").err
    assert spawn("confirm", "--yes").code == 0  # that somebody asks is enough
    assert loop_in(path).control.status == "completed"


def test_an_old_single_assertion_is_named_by_its_words(checkout: Path) -> None:
    path = write_loop(checkout, a_loop(atom("A1"), base_case=BaseCase(type="assertion", value="it is nice")))
    assert spawn("confirm", "assertion: it is nice").code == 0
    assert loop_in(path).control.status == "completed"


def test_a_shell_completes_what_a_person_can_decide(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(RUNS, NICE, FAST))
    for words in ("aot confirm ", "aot confirm --reject "):
        line = {"_AOT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        assert spawn(environ=line).out == "plain,nice\nplain,fast\n"
    (checkout / ".claude" / "aot-loop-state.md").unlink()
    nothing = spawn(environ=line)
    assert (nothing.out.strip(), nothing.err) == ("", "")


# --- rejecting ---------------------------------------------------------------------------------------------------


def test_what_is_rejected_becomes_work(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE, FAST))
    ran = spawn("confirm", "fast", "--reject", "nice", "--reason", "the logo is upside down")
    assert ran.code == 1
    assert "✘ the base case does not hold: nice; A2 is to mend that\n" in ran.out
    assert ran.err == "Next: aot run  ·  aot status\n"
    loop = loop_in(path)
    assert loop.control.status == "stopped"
    assert loop.control.verdict is not None
    assert loop.control.verdict.failing == ("nice",)
    assert loop.atoms[1].repairs == "nice"
    assert "a person disagrees: the logo is upside down" in loop.atoms[1].description


def test_a_person_can_reject_in_the_dialogue(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE))
    with terminal("confirm") as screen:
        screen.wait_for(ASKED)
        screen.type("n\n")
        screen.wait_for("What is wrong? ")
        screen.type("the logo\n")
        assert screen.end() == 1
    assert "a person disagrees: the logo" in loop_in(path).atoms[1].description


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
    assert "nice: it cannot be confirmed and rejected" in both.err


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
    assert f"process {runner.pid} runs this loop" in ran.err
    assert "aot redirect --add" in ran.err
    assert path.read_bytes() == before


def test_what_others_wrote_cannot_steer_the_terminal(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(item("nice\x1b[2J", "cleared\x1b]0;title\x07")))
    with terminal("confirm") as screen:
        screen.wait_for(ASKED)
        assert "\x1b[2J" not in screen.shown
        assert "title" not in screen.text
    assert spawn("confirm", "nice").code == 0  # the name as it is shown
