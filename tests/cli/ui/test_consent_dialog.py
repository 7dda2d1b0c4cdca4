"""Commands of a file are run only after this user accepted them: these words, in this file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.terminal import aot, on_terminal, spawn, terminal
from tests.loops import a_loop, atom, write_loop

RUNS = "touch ran.txt"


def ran(project: Path) -> bool:
    """Whether the command of the file was run since the last time this was asked."""
    try:
        (project / "ran.txt").unlink()
    except FileNotFoundError:
        return False
    return True


# --- asking ------------------------------------------------------------------------------------------------------


def test_without_a_terminal_nothing_is_run_before_it_was_accepted(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    refused = spawn("verify", "--json")
    assert refused.code == 1
    assert refused.json == {
        "error": "the commands of this file have not been accepted yet",
        "hint": "Read them; then add --yes to accept them.",
    }
    assert f"  $ {RUNS}\n" in refused.err
    assert not ran(project)


def test_yes_accepts_now_and_for_later(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    assert spawn("verify", "--yes").code == 0
    assert ran(project)
    assert spawn("verify").code == 0
    assert ran(project)


@pytest.mark.parametrize("answer", ["y\n", "yes\n", "Y\n"])
def test_on_a_terminal_a_person_is_asked_once(project: Path, answer: str) -> None:
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    with terminal("verify") as screen:
        screen.wait_for("Accept them, now and until they change? [y/N] ")
        assert f"$ {RUNS}" in screen.text
        screen.type(answer)
        assert screen.end() == 0
    assert ran(project)
    code, again = on_terminal("verify")
    assert code == 0
    assert "[y/N]" not in again.text
    assert ran(project)


@pytest.mark.parametrize("answer", ["n\n", "\n", "no\n", "yup\n", "\x04"])
def test_anything_but_yes_declines(project: Path, answer: str) -> None:
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    with terminal("verify") as screen:
        screen.wait_for("[y/N] ")
        screen.type(answer)
        assert screen.end() == 1
    assert screen.text.endswith("\naot: nothing was run: you did not accept the commands\n")
    assert not ran(project)
    assert spawn("verify").code == 1


def test_ctrl_c_at_the_question_is_an_interruption(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    with terminal("verify") as screen:
        screen.wait_for("[y/N] ")
        screen.type("\x03")
        assert screen.end() == 130
    assert screen.text.endswith("\naot: interrupted\n")
    assert not ran(project)


def test_nobody_is_asked_about_commands_that_cannot_be_seen(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    ours, theirs = os.openpty()
    try:
        assert spawn("verify", stdin=theirs).code == 1  # a keyboard, but standard error goes elsewhere
    finally:
        os.close(ours)
        os.close(theirs)
    assert not ran(project)


def test_what_is_accepted_is_what_is_seen(project: Path) -> None:
    hidden = "echo fine \x1b[8m; rm -rf x\x1b[0m \u202e\rfirst\nsecond\n"
    write_loop(project, a_loop(atom("A1"), command=hidden))
    told = spawn("verify").err
    assert "  $ echo fine \\x1b[8m; rm -rf x\\x1b[0m \\u202e\\rfirst\n  > second\n" in told


def test_commands_of_atoms_are_shown_too(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", run="make everything"), command=RUNS))
    assert f"  $ {RUNS}\n  $ make everything\n" in spawn("verify").err


def test_a_file_without_commands_needs_no_consent(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command="x"))
    path.write_text(path.read_text().replace("type: command", "type: file"))
    assert spawn("verify").code == 1
    (project / "x").touch()
    assert spawn("verify").code == 0


# --- what counts as the same -------------------------------------------------------------------------------------


def test_changed_commands_ask_again(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command=RUNS))
    assert aot("verify", "--yes").code == 0
    assert ran(project)
    path.write_text(path.read_text().replace(RUNS, f"{RUNS} other.txt"))
    assert aot("verify").code == 1
    assert not ran(project)
    path.write_text(path.read_text().replace(f"{RUNS} other.txt", RUNS))
    assert aot("verify").code == 0


def test_other_changes_do_not(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    assert aot("verify", "--yes").code == 0
    assert aot("atom", "add", "more").code == 0
    assert aot("verify").code == 0


def test_the_same_file_elsewhere_asks_again(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command=RUNS))
    assert aot("verify", "--yes").code == 0
    (project / "copy.md").write_bytes(path.read_bytes())
    assert aot("verify", "--state-file", "copy.md").code == 1


def test_a_link_to_the_file_is_the_same_file(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command=RUNS))
    assert aot("verify", "--yes").code == 0
    (project / "link.md").symlink_to(path)
    assert aot("verify", "--state-file", "link.md").code == 0


def test_a_file_that_changes_while_a_person_decides_is_shown_again(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command="true"))
    with terminal("verify") as screen:
        screen.wait_for("[y/N] ")
        path.write_text(path.read_text().replace('"true"', f'"{RUNS}"'))
        screen.type("y\n")
        screen.wait_for(f"$ {RUNS}")
        assert not ran(project)
        screen.type("n\n")
        assert screen.end() == 1
    assert not ran(project)


def test_what_the_user_typed_is_accepted(project: Path) -> None:
    assert aot("init", "--goal", "x", "--command", RUNS).code == 0
    assert spawn("verify").code == 0
    assert ran(project)
    assert aot("atom", "add", "more", "--run", "make more").code == 0
    assert spawn("verify").code == 0


def test_what_the_user_typed_does_not_accept_what_was_there_before(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    assert aot("atom", "add", "more", "--run", "make more").code == 0
    assert spawn("verify").code == 1
    assert not ran(project)


def test_whom_atoms_ask_for_is_shown_and_another_one_is_asked_about_again(project: Path) -> None:
    """The agents are configured, and yet a file that came from elsewhere does not choose among them unseen."""
    write_loop(project, a_loop(atom("A1", agent="cheap"), command=RUNS))
    refused = spawn("verify")
    assert refused.code == 1
    assert "$ # atom A1 asks for the agent cheap\n" in refused.err
    assert spawn("verify", "--yes").code == 0
    assert spawn("verify").code == 0
    write_loop(project, a_loop(atom("A1", agent="dear"), command=RUNS))
    refused = spawn("verify")
    assert refused.code == 1
    assert "$ # atom A1 asks for the agent dear\n" in refused.err
