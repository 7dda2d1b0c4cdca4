"""On a terminal `aot confirm` asks a person about each item; without a terminal it lists them."""

from __future__ import annotations

from pathlib import Path

from tests.cli.judged_loops import ASKED, FAST, NICE, RUNS, commit, done_but_judged, item, loop_in
from tests.cli.terminal import on_terminal, spawn, terminal
from tests.loops import write_loop


def test_on_a_terminal_a_person_is_asked_about_each(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(RUNS, NICE, FAST))
    with terminal("confirm", "--yes") as screen:
        screen.wait_for(ASKED)
        assert "✔ runs: exit 0" in screen.text
        assert "nice\n  the page looks nice\n" in screen.text
        screen.answer((ASKED, "perhaps"), (ASKED, "y"))
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


def test_a_person_can_reject_in_the_dialogue(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(NICE))
    with terminal("confirm") as screen:
        screen.wait_for(ASKED)
        screen.type("n\n")
        screen.wait_for("What is wrong? ")
        screen.type("the logo\n")
        assert screen.end() == 1
    assert "a person disagrees: the logo" in loop_in(path).atoms[1].description


def test_what_others_wrote_cannot_steer_the_terminal(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(item("nice\x1b[2J", "cleared\x1b]0;title\x07")))
    with terminal("confirm") as screen:
        screen.wait_for(ASKED)
        assert "\x1b[2J" not in screen.shown
        assert "title" not in screen.text
    assert spawn("confirm", "nice").code == 0  # the name as it is shown
