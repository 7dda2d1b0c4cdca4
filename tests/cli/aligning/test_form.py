"""The guided form of `aot align`, on a real terminal: each answer is looked at, nothing is written before agreement."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aotloop.core.model import Check, Constraints, Loop, OrGroup
from aotloop.statefile.store import Store
from tests.cli.aligning.talking import AGREE, CHANGE, EDIT, LEAVE, LETTER, answer
from tests.cli.terminal import Terminal, terminal
from tests.loops import a_loop, atom, write_loop

STATE_FILE = Path(".claude") / "aot-loop-state.md"
FORM = ("align", "--no-agent")
WORDS = (
    ("What is to be achieved, in one sentence?\n> ", "A greeter"),
    ("Why is it wanted?\n> ", "Guests"),
    ("What should be there in the end?\n> ", "greet.sh"),
    ("How would a person tell that it is done?\n> ", "It says hello"),
)
CHECKS = (
    ("Which kind of check? (number; Enter: none) ", "1"),
    ("Which command?  $ ", "sh greet.sh | grep -q hello"),
    ("In a few words, what holds then?", "says hello"),
    ("Another check? (number; Enter: none) ", ""),
)
PROTECTED = (("Which files may no agent change?", ""),)
WORK = (("  What? ", ""),)


def loop_now() -> Loop:
    return Store(str(STATE_FILE)).load()


def test_it_asks_for_everything_and_writes_what_was_agreed_on(project: Path) -> None:
    with terminal(*FORM, columns=120) as screen:
        answer(screen, *WORDS)
        answer(
            screen,
            *CHECKS[:3],
            ("Another check? (number; Enter: none) ", "file"),
            ("Which path? ", "README"),
            ("(Enter: README exists) ", ""),
            CHECKS[3],
            ("  > ", "tests/**"),
            ("  > ", ""),
        )
        answer(
            screen,
            ("  What? ", "the script"),
            ("By which command? (Enter: an agent does it) ", ""),
            ("It is A1.", ""),
        )
        screen.wait_for(LETTER)
        shown = screen.text
        screen.type("a\n")
        assert screen.end() == 0
    for told in (
        "A greeter",
        "why           Guests",
        "$ sh greet.sh | grep -q hello",
        "README exists",
        "tests/**",
        "A1",
    ):
        assert told in shown, shown
    assert "The base case fails now, as it should before the work." in screen.text
    assert f"✔ agreed: {STATE_FILE}, 1 atom" in screen.text
    assert "Next: aot gate  ·  aot run" in screen.text
    loop = loop_now()
    assert loop.objective.definition_of_done == "It says hello"
    assert loop.objective.protect == ("tests/**",)
    assert loop.objective.base_case.checklist is not None
    assert [item.check for item in loop.objective.base_case.checklist] == [
        Check(type="command", value="sh greet.sh | grep -q hello"),
        Check(type="file", value="README"),
    ]
    assert project.joinpath(STATE_FILE).exists()


def test_every_answer_is_looked_at_at_once(project: Path) -> None:
    with terminal(*FORM, columns=120) as screen:
        answer(screen, (WORDS[0][0], ""), ("It has to be said", "A greeter"), *WORDS[1:])
        answer(
            screen,
            (CHECKS[0][0], ""),
            ("At least one is needed", "9"),
            ("There is no 9. Type a number from the list, or its name.", "quality"),
            ("What is scored? ", "how it reads"),
            ("In a few words", "reads well"),
            ("At least which score", "7"),
            ("7 is not a number from 1 to 5.", "4.5"),
            CHECKS[3],
            ("  > ", "../x"),
            ("Write it as seen from the project.", ""),
            ("  What? ", "one"),
            ("By which command?", ""),
            ("  What? ", "two"),
            ("After which atoms? (ids; Enter: none) ", "A9"),
            ("There is no A9; there are: A1", "A1"),
            ("Instead of which one", ""),
            ("By which command?", "make two"),
            ("  What? ", "another two"),
            ("After which atoms?", ""),
            ("Instead of which one", "A2"),
            ("By which command?", ""),
            ("It is A3.", ""),
            (LETTER, "x"),
            ("One of these letters, please.", AGREE),
        )
        assert screen.end() == 0
    loop = loop_now()
    assert loop.objective.base_case.checklist is not None
    assert loop.objective.base_case.checklist[0].check == Check(
        type="quality", criteria="how it reads", pass_threshold=4.5
    )
    assert [(one.id, one.depends_on, one.run, one.or_group) for one in loop.atoms] == [
        ("A1", (), None, None),
        ("A2", ("A1",), "make two", "instead_of_A2"),
        ("A3", (), None, "instead_of_A2"),
    ]
    assert loop.or_groups == {"instead_of_A2": OrGroup(choices=("A2", "A3"), selected="A2")}
    assert "The base case is undecided now" in screen.text
    assert project.joinpath(STATE_FILE).exists()


def filled_in(screen: Terminal) -> None:
    answer(screen, *WORDS, *CHECKS, *PROTECTED, *WORK)
    screen.wait_for(LETTER)


def test_nothing_is_written_by_whoever_leaves(project: Path) -> None:
    for way, code in (("q\n", 1), ("\x04", 1), ("\x03", 130)):
        with terminal(*FORM) as screen:
            filled_in(screen)
            screen.type(way)
            assert screen.end() == code
        told = "aot: interrupted" if code == 130 else "aot: nothing was written: it was not agreed on"
        assert told in screen.text
    with terminal(*FORM) as screen:
        screen.wait_for(WORDS[0][0])
        screen.type("\x04")
        assert screen.end() == 1
    assert list((project / ".claude").iterdir()) == []


def test_what_already_holds_is_asked_about_and_can_be_changed(project: Path) -> None:
    (project / "greet.sh").write_text("echo hello\n")
    with terminal(*FORM) as screen:
        filled_in(screen)
        screen.type("a\n")
        answer(screen, ("says hello: already holds; it may prove nothing\nAgree to it all the same? [y/N] ", "n"))
        screen.wait_for(LETTER)
        assert not STATE_FILE.exists()
        screen.shown = ""
        screen.type("a\n")
        answer(screen, ("Agree to it all the same? [y/N] ", "y"))
        assert screen.end() == 0
    assert STATE_FILE.exists()


def editor(folder: Path, program: str) -> dict[str, str]:
    """One that does to the file what a person would."""
    path = folder / "editor.py"
    path.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{program}\n")
    return {"EDITOR": f"{sys.executable} {path}", "VISUAL": ""}


def test_it_is_edited_as_a_file(project: Path, tmp_path: Path) -> None:
    program = "path.write_text(text.replace('A greeter', 'A loud greeter') + 'constraints: {max_iterations: 3}\\n')"
    with terminal(*FORM, environ=editor(tmp_path, program)) as screen:
        filled_in(screen)
        shown = answer(screen, (LETTER, EDIT), ("max_iterations 3", ""), ("One of these", AGREE))
        assert "A loud greeter" in shown
        assert screen.end() == 0
    assert loop_now().objective.goal == "A loud greeter"
    assert loop_now().objective.constraints == Constraints(max_iterations=3)
    assert project.joinpath(STATE_FILE).exists()


def test_an_edit_that_makes_no_sense_is_not_lost(project: Path, tmp_path: Path) -> None:
    program = (
        "path.write_text(text.replace('gaol: ', 'goal: ') if 'gaol' in text else text.replace('goal: ', 'gaol: '))"
    )
    with terminal(*FORM, columns=120, environ=editor(tmp_path, program)) as screen:
        filled_in(screen)
        answer(
            screen,
            (LETTER, EDIT),
            ("gaol: unknown key; did you mean goal?\nEdit it again? [Y/n] ", ""),
            (LETTER, EDIT),
            ("Edit it again? [Y/n] ", "n"),
            (LETTER, LEAVE),
        )
        assert screen.end() == 1
    assert not STATE_FILE.exists(), project


@pytest.mark.parametrize(("program", "told"), [("pass", "Nothing was changed."), ("sys.exit(1)", "Editing failed")])
def test_an_editor_that_changes_nothing_or_fails_costs_nothing(
    project: Path, tmp_path: Path, program: str, told: str
) -> None:
    with terminal(*FORM, environ=editor(tmp_path, program)) as screen:
        filled_in(screen)
        answer(screen, (LETTER, EDIT), (told, ""), (LETTER, AGREE))
        assert screen.end() == 0
    assert loop_now().objective.goal == "A greeter", project


def test_the_questions_can_be_answered_once_more_and_keep_what_was_said(project: Path) -> None:
    with terminal(*FORM) as screen:
        filled_in(screen)
        answer(
            screen,
            (LETTER, CHANGE),
            ("now: A greeter\n(Enter keeps it) > ", "Another greeter"),
            ("now: Guests\n(Enter keeps it) > ", ""),
            ("(Enter keeps it) > ", ""),
            ("(Enter keeps it) > ", ""),
            ("now: says hello\nKeep these? [Y/n] ", ""),
            CHECKS[3],
            *PROTECTED,
            *WORK,
            (LETTER, AGREE),
        )
        assert screen.end() == 0
    objective = loop_now().objective
    assert (objective.goal, objective.background_intent) == ("Another greeter", "Guests"), project


def test_a_loop_that_exists_is_what_the_form_begins_from(project: Path) -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", "A1"), status="stopped", command="false")
    write_loop(project, loop)
    with terminal(*FORM) as screen:
        answer(
            screen,
            ("now: It works\n(Enter keeps it) > ", "It works well"),
            *((("(Enter keeps it) > ", ""),) * 3),
            ("now: command: false\nKeep these? [Y/n] ", ""),
            CHECKS[3],
            *PROTECTED,
            ("A2  do A2\nKeep them? [Y/n] ", ""),
            ("  What? ", "more"),
            ("After which atoms?", "A2"),
            ("Instead of which one", ""),
            ("By which command?", ""),
            ("It is A3.", ""),
            (LETTER, AGREE),
        )
        assert screen.end() == 0
    assert "aligned again" in screen.text
    now = loop_now()
    assert (now.objective.goal, now.control.status) == ("It works well", "pending")
    assert [(one.id, one.status, one.depends_on) for one in now.atoms] == [
        ("A1", "resolved", ()),
        ("A2", "pending", ("A1",)),
        ("A3", "pending", ("A2",)),
    ]


def test_an_imported_plan_is_what_the_form_begins_from(project: Path) -> None:
    (project / "plan.md").write_text("# A shop\n\n- [ ] shelves\n- [ ] goods\n")
    with terminal("align", "--from", "plan.md") as screen:
        shown = answer(screen, ("now: A shop\n(Enter keeps it) > ", ""))
        assert "No agent is configured, so a form asks." in shown
        answer(screen, *WORDS[1:], *CHECKS, *PROTECTED, ("Keep them? [Y/n] ", ""), *WORK, (LETTER, AGREE))
        assert screen.end() == 0
    assert [one.description for one in loop_now().atoms] == ["shelves", "goods"]


def test_what_was_agreed_on_is_not_lost_if_it_cannot_be_written(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="stopped", command="false"))
    with terminal(*FORM) as screen:
        answer(screen, ("(Enter keeps it) > ", "A better one"), *((("(Enter keeps it) > ", ""),) * 3))
        answer(screen, ("Keep these? [Y/n] ", ""), CHECKS[3], *PROTECTED, ("Keep them? [Y/n] ", ""), *WORK)
        screen.wait_for(LETTER)
        Store(str(path)).update(lambda loop: loop.atoms.append(atom("A9")))
        before = path.read_bytes()
        screen.type("a\n")
        assert screen.end() == 1
    assert 'goal: "A better one"' in screen.text
    assert "Keep it for -f." in screen.text
    assert "was changed meanwhile; nothing was written" in screen.text
    assert path.read_bytes() == before
