"""The guided form of `aot align`, on a real terminal: each answer is looked at, nothing is written before agreement."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.core.model import Check, Constraints, Loop, OrGroup, Prices
from aotloop.statefile.store import Store
from tests.cli.align.talking import AGREE, CHANGE, EDIT, LEAVE, LETTER
from tests.cli.terminal import Terminal, terminal
from tests.loops import a_loop, atom, write_loop

STATE_FILE = Path(".claude") / "aot-loop-state.md"
FORM = ("align", "--no-agent")
WORDS = (
    ("What do you want to achieve, in one sentence?\n> ", "A greeter"),
    ("Why do you want it?\n> ", "Guests"),
    ("What should exist at the end?\n(Enter: What the goal names) > ", "greet.sh"),
    ("How can a person see that it is done?\n(Enter: Every check of the base case holds) > ", "It says hello"),
)
CHECKS = (
    ("Which kind of check? (number; Enter: none) ", "1"),
    ("Which command?  $ ", "sh greet.sh | grep -q hello"),
    ("In a few words, what holds?…) ", "says hello"),
    ("Another check? (number; Enter: none) ", ""),
)
PROTECTED = (("Which files must agents not change?…  > ", ""),)
WORK = (("  What? ", ""),)
CONNECTED = (("(Enter: as shown; else …) > ", ""),)
COVERAGE = "(Enter: as proposed; else …) > "
BUDGET = (("How many dollars may the loop cost at most?…(Enter: no limit) > ", ""),)


def loop_now() -> Loop:
    return Store(str(STATE_FILE)).load()


def test_it_asks_for_everything_and_writes_what_was_agreed_on(project: Path) -> None:
    with terminal(*FORM, columns=120) as screen:
        screen.answer(*WORDS)
        screen.answer(
            *CHECKS[:3],
            ("Another check? (number; Enter: none) ", "file"),
            ("Which path? ", "README"),
            ("(Enter: README exists) ", ""),
            CHECKS[3],
            ("  > ", "tests/**"),
            ("  > ", ""),
        )
        screen.answer(
            ("  What? ", "the script"),
            ("  What? ", ""),
            *CONNECTED,
            *BUDGET,
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
        screen.answer((WORDS[0][0], ""), ("This answer is required…> ", "A greeter"), *WORDS[1:])
        screen.answer(
            (CHECKS[0][0], ""),
            ("At least one check is needed…none) ", "9"),
            ("9 is not in the list. Type a number or a name from the list.…none) ", "quality"),
            ("What is scored? ", "how it reads"),
            ("In a few words…) ", "reads well"),
            ("Which score from 1 to 5…) ", "7"),
            ("7 is not a number from 1 to 5.…) ", "4.5"),
            CHECKS[3],
            ("  > ", "../x"),
            ("Write the path relative to the project.…> ", ""),
            ("  What? ", "one"),
            ("  What? ", "two"),
            ("  What? ", "another two"),
            ("  What? ", ""),
            (CONNECTED[0][0], "A2 after A9"),
            ("there is no atom A9; known atoms: A1, A2, A3…) > ", "a2 after A1"),
            ("two  after A1…) > ", "A2 runs make two"),
            ("$ make two…) > ", "A3 instead of A2"),
            ("one of instead_of_A2…) > ", "A3 below A2"),
            ("this is not understood.…) > ", ""),
            *BUDGET,
            (LETTER, "x"),
            ("Type one of these letters.…Letter: ", AGREE),
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


def test_an_atom_costs_one_line_and_all_of_them_together_one_question(project: Path) -> None:
    with terminal(*FORM, columns=120) as screen:
        screen.answer(*WORDS, *CHECKS, *PROTECTED)
        atoms = [("  What? ", f"part {number} of `app.py`") for number in range(1, 7)]
        shown = screen.answer(*atoms, *WORK, *CONNECTED, (COVERAGE, ""), *BUDGET, (LETTER, AGREE))
        assert "part 2 of `app.py`  after A1\n" in shown
        assert screen.end() == 0
    assert [one.depends_on for one in loop_now().atoms][:3] == [(), ("A1",), ("A1", "A2")], project


WORDS_WITH_GOAL = (("(Enter keeps it) > ", ""), *WORDS[1:])


def filled_in(screen: Terminal, words: tuple[tuple[str, str], ...] = WORDS) -> None:
    screen.answer(*words, *CHECKS, *PROTECTED, *WORK, *BUDGET)
    screen.wait_for(LETTER)


def test_nothing_is_written_by_whoever_leaves(project: Path) -> None:
    for way, code in (("q\n", 1), ("\x04", 1), ("\x03", 130)):
        with terminal(*FORM, "A greeter") as screen:
            filled_in(screen, WORDS_WITH_GOAL)
            screen.type(way)
            assert screen.end() == code
        told = "aot: interrupted" if code == 130 else "aot: nothing was written: you did not agree"
        assert told in screen.text
        assert "Your answers are kept: `aot align` continues." in screen.text
    with terminal(*FORM, "A greeter") as screen:
        screen.wait_for(WORDS_WITH_GOAL[0][0])
        screen.type("\x04")
        assert screen.end() == 1
    assert list((project / ".claude").iterdir()) == []


def test_ctrl_c_loses_no_answer(project: Path) -> None:
    with terminal(*FORM) as screen:
        screen.answer(*WORDS)
        screen.wait_for(CHECKS[0][0])
        screen.type("\x03")
        assert screen.end() == 130
    with terminal(*FORM) as screen:
        screen.answer(("Continue with that draft? [Y/n] ", ""))
        screen.answer(*(("(Enter keeps it) > ", "") for _ in WORDS))
        screen.answer(*CHECKS, *PROTECTED, *WORK, *BUDGET, (LETTER, AGREE))
        assert screen.end() == 0
    words = loop_now().objective
    assert (words.goal, words.background_intent, words.deliverables) == ("A greeter", "Guests", "greet.sh")
    with terminal(*FORM) as screen:  # what was agreed on is no draft any more
        screen.wait_for("now: A greeter")
        screen.type("\x04")
        assert screen.end() == 1
    assert project.joinpath(STATE_FILE).exists()


def test_commands_of_the_project_are_proposed_and_a_glob_without_a_match_is_told(project: Path) -> None:
    (project / "Makefile").write_text("test:\n\ttrue\n")
    (project / "package.json").write_text('{"scripts": {"test": "vitest"}}')
    with terminal(*FORM, columns=120) as screen:
        shown = screen.answer(
            *WORDS[:2],
            (WORDS[2][0], ""),
            (WORDS[3][0], ""),
            ("Which of these commands have to succeed? (numbers; Enter: none) > ", "3"),
            ("3 is not a number from 1 to 2.…) > ", "1"),
            CHECKS[3],
            ("Which files must agents not change?…  > ", "no/such/**"),
            ("No file matches no/such/** now; it protects files that come later.…> ", ""),
            *WORK,
            *BUDGET,
        )
        assert "make test" in shown
        assert "from package.json" in shown
        shown = screen.answer((LETTER, AGREE), ("Agree anyway? [y/N] ", "y"))
        assert "Running 1 command of your base case, with your rights, in" in shown
        assert screen.end() == 0
    objective = loop_now().objective
    assert objective.definition_of_done == "Every check of the base case holds"
    assert [one.check for one in objective.base_case.checklist or ()] == [Check(type="command", value="make test")]


def test_what_already_holds_is_asked_about_and_can_be_changed(project: Path) -> None:
    (project / "greet.sh").write_text("echo hello\n")
    with terminal(*FORM) as screen:
        filled_in(screen)
        screen.type("a\n")
        screen.answer(("says hello: already holds; it may prove nothing\nAgree anyway? [y/N] ", "n"))
        screen.wait_for(LETTER)
        assert not STATE_FILE.exists()
        screen.shown = ""
        screen.type("a\n")
        screen.answer(("Agree anyway? [y/N] ", "y"))
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
        shown = screen.answer((LETTER, EDIT), ("max_iterations 3…Letter: ", ""), ("Type one of these…Letter: ", AGREE))
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
        screen.answer(
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
        screen.answer((LETTER, EDIT), (f"{told}…{LETTER}", ""), (LETTER, AGREE))
        assert screen.end() == 0
    assert loop_now().objective.goal == "A greeter", project


def test_the_questions_can_be_answered_once_more_and_keep_what_was_said(project: Path) -> None:
    with terminal(*FORM) as screen:
        filled_in(screen)
        screen.answer(
            (LETTER, CHANGE),
            ("now: A greeter\n(Enter keeps it) > ", "Another greeter"),
            ("now: Guests\n(Enter keeps it) > ", ""),
            ("(Enter keeps it) > ", ""),
            ("(Enter keeps it) > ", ""),
            ("now: says hello\nKeep these? [Y/n] ", ""),
            CHECKS[3],
            *PROTECTED,
            *WORK,
            *BUDGET,
            (LETTER, AGREE),
        )
        assert screen.end() == 0
    objective = loop_now().objective
    assert (objective.goal, objective.background_intent) == ("Another greeter", "Guests"), project


def test_a_loop_that_exists_is_what_the_form_begins_from(project: Path) -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", "A1"), status="stopped", command="false")
    write_loop(project, loop)
    with terminal(*FORM) as screen:
        screen.answer(
            ("now: It works\n(Enter keeps it) > ", "It works well"),
            *((("(Enter keeps it) > ", ""),) * 3),
            ("now: command: false\nKeep these? [Y/n] ", ""),
            CHECKS[3],
            *PROTECTED,
            ("A2  do A2\nKeep them? [Y/n] ", ""),
            ("  What? ", "more"),
            ("  What? ", ""),
            (CONNECTED[0][0], "A3 after A2"),
            *CONNECTED,
            (COVERAGE, ""),
            *BUDGET,
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
        shown = screen.answer(("now: A shop\n(Enter keeps it) > ", ""))
        assert "No agent is configured, so a form asks the questions." in shown
        screen.answer(*WORDS[1:], *CHECKS, *PROTECTED, ("Keep them? [Y/n] ", ""), *WORK)
        screen.answer((COVERAGE, "A2=1"), *BUDGET, (LETTER, AGREE))
        assert screen.end() == 0
    assert [(one.description, one.covers) for one in loop_now().atoms] == [("shelves", ()), ("goods", ("says hello",))]


def test_what_was_agreed_on_is_not_lost_if_it_cannot_be_written(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="stopped", command="false"))
    with terminal(*FORM) as screen:
        screen.answer(("(Enter keeps it) > ", "A better one"), *((("(Enter keeps it) > ", ""),) * 3))
        screen.answer(("Keep these? [Y/n] ", ""), CHECKS[3], *PROTECTED, ("Keep them? [Y/n] ", ""), *WORK, *BUDGET)
        screen.wait_for(LETTER)
        Store(str(path)).update(lambda loop: loop.atoms.append(atom("A9")))
        before = path.read_bytes()
        screen.type("a\n")
        assert screen.end() == 1
    assert 'goal: "A better one"' in screen.text
    assert "Keep it for -f." in screen.text
    assert "was changed meanwhile; nothing was written" in screen.text
    assert path.read_bytes() == before


# --- what each atom makes true, and what it may cost -------------------------------------------------------------

TWO_CHECKS = (
    *CHECKS[:3],
    ("Another check? (number; Enter: none) ", "file"),
    ("Which path? ", "README"),
    ("(Enter: README exists) ", ""),
    CHECKS[3],
)


def two_atoms(screen: Terminal) -> None:
    screen.answer(*WORDS, *TWO_CHECKS, *PROTECTED)
    screen.answer(
        ("  What? ", "Write the script that says hello"),
        ("  What? ", "Describe it in a readme"),
        ("  What? ", ""),
        (CONNECTED[0][0], "A2 after A1"),
        *CONNECTED,
    )


def covered() -> dict[str, tuple[str, ...]]:
    return {one.id: one.covers for one in loop_now().atoms}


def test_one_question_says_what_each_atom_makes_true_and_enter_takes_the_proposal(project: Path) -> None:
    with terminal(*FORM, columns=120) as screen:
        two_atoms(screen)
        shown = screen.answer((COVERAGE, ""), *BUDGET)
        for told in (
            "   1  says hello\n",
            "   2  README exists\n",
            "  A1  [1]  Write the script",
            "  A2  [2]  Describe",
        ):
            assert told in shown, shown
        screen.wait_for(LETTER)
        assert "A1 makes true: says hello\n" in screen.text
        assert "no check" not in screen.text, project
        screen.type("a\n")
        assert screen.end() == 0
    assert covered() == {"A1": ("says hello",), "A2": ("README exists",)}


def test_the_proposal_is_changed_by_numbers_and_every_slip_is_told(project: Path) -> None:
    with terminal(*FORM, columns=120) as screen:
        two_atoms(screen)
        shown = screen.answer(
            (COVERAGE, "A9=1"),
            ("A9=1: write the id of an atom, =, and numbers; there are: A1, A2…) > ", "A1=3"),
            ("A1=3: 3 is not a number from 1 to 2…) > ", "2"),
            ("2: write the id of an atom…) > ", "A1 = - A2=1, 2"),
            *BUDGET,
            (LETTER, AGREE),
        )
        assert screen.end() == 0
    assert covered() == {"A1": (), "A2": ("says hello", "README exists")}
    assert "1 atom has no check (A1)" in shown, project


def test_a_limit_of_cost_is_proposed_and_looked_at(project: Path) -> None:
    with terminal(*FORM, columns=120) as screen:
        screen.answer(*WORDS, *CHECKS, *PROTECTED, *WORK)
        shown = screen.answer(("(Enter: no limit) > ", "much"), ("much is not an amount of money…> ", "$7.5"))
        assert "A usual amount is 3 (3 attempts at 1 atom, $1.00 each, a guess; at most 10 are made)" in shown
        screen.wait_for(LETTER)
        assert "max_cost_usd 7.5" in screen.text
        assert "effort        normal: at most 10 attempts in all, 10 for each atom; 2 in a row before" in screen.text
        screen.type("a\n")
        assert screen.end() == 0
    assert loop_now().objective.constraints == Constraints(max_cost_usd=7.5)
    written = project.joinpath(STATE_FILE).read_text()
    assert "max_iterations" not in written
    assert "effort" not in written


def test_what_attempts_have_cost_so_far_is_proposed_and_effort_is_set_by_a_flag(project: Path) -> None:
    loop = a_loop(atom("A1"), status="stopped", command="false")
    loop.control = replace(loop.control, prices=Prices(attempts=4, attempts_usd=10.0))
    write_loop(project, loop)
    with terminal(*FORM, "--effort", "high", columns=120) as screen:
        screen.answer(*((("(Enter keeps it) > ", ""),) * 4), ("Keep these? [Y/n] ", ""), CHECKS[3], *PROTECTED)
        screen.answer(("Keep them? [Y/n] ", ""), *WORK)
        shown = screen.answer(*BUDGET)
        assert (
            "A usual amount is 8 (3 attempts at 1 atom, $2.50 each, the average of this loop so far; at most 30"
            in shown
        )
        screen.wait_for(LETTER)
        assert "effort        high: at most 30 attempts in all" in screen.text
        screen.type("a\n")
        assert screen.end() == 0
    assert loop_now().objective.constraints == Constraints(effort="high")


def test_what_commands_do_costs_nothing_and_is_not_asked_about(project: Path) -> None:
    with terminal(*FORM) as screen:
        screen.answer(*WORDS, *CHECKS, *PROTECTED, ("  What? ", "all"), *WORK)
        screen.answer((CONNECTED[0][0], "A1 runs true"), *CONNECTED)
        screen.wait_for(LETTER)
        assert "dollars" not in screen.text, project
        screen.type("q\n")
        assert screen.end() == 1
