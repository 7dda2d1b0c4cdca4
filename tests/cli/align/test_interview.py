"""The dialogue of `aot align`, led by an agent, on a real terminal: questions, a proposal, a review."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aotloop.cli.align.interview import MOST_QUESTION_ROUNDS
from aotloop.core.model import Loop, OrGroup
from aotloop.statefile.store import Store
from tests.cli.align.talking import AGREE, CHANGE, LEAVE, LETTER
from tests.cli.terminal import Terminal, terminal
from tests.loops import a_loop, atom, write_loop
from tests.modelserver import Answer, Call, ModelServer, Script
from tests.modelserver.operators import config_of, environ_of, most_clients, shell, write
from tests.runner.agents import Order, scripted, times_asked
from tests.runner.projects import processes_with

STATE_FILE = Path(".claude") / "aot-loop-state.md"
BUDGET = ("How many dollars may the loop cost at most?…(Enter: no limit) > ", "")
COVERAGE = "(Enter: as proposed; else …) > "
CONSENT = ("Accept them, now and until they change? [y/N] ", "y")
ATOM: dict[str, Any] = {"depends_on": [], "or_group": None, "touches": [], "estimate": None, "covers": ["tests pass"]}
PLAN: dict[str, Any] = {
    "goal": "Customers can log in",
    "background_intent": "They ask for it",
    "deliverables": "A form",
    "definition_of_done": "The tests of the form pass",
    "checklist": [
        {"item": "tests pass", "type": "command", "value": "test -f form && sh form"},
        {"item": "documented", "type": "file", "value": "docs/login.md"},
    ],
    "protect": ["tests/**"],
    "atoms": [
        {**ATOM, "name": "model", "description": "Keep accounts", "covers": ["documented"]},
        {**ATOM, "name": "jwt", "description": "Log in by token", "depends_on": ["model"], "or_group": "way"},
        {**ATOM, "name": "session", "description": "Log in by session", "depends_on": ["model"], "or_group": "way"},
    ],
}


def asks(*questions: str, choices: tuple[str, ...] = ()) -> Order:
    return {"answer": {"questions": [{"question": one, "choices": list(choices)} for one in questions], "plan": None}}


def proposes(**more: Any) -> Order:
    return {"answer": {"questions": [], "plan": {**PLAN, **more}}}


def loop_now() -> Loop:
    return Store(str(STATE_FILE)).load()


class Stage:
    """A project with an agent that says what it is told to."""

    def __init__(self, project: Path, tmp_path: Path) -> None:
        self.project = project
        self.agents = tmp_path / "agents"
        self.agents.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)

    def plays(self, *orders: Order, more: str = "") -> None:
        (self.project / "aot.toml").write_text(scripted(self.agents, {"align": list(orders)}, more))

    @property
    def times_asked(self) -> int:
        return times_asked(self.agents, "align")


@pytest.fixture
def stage(project: Path, tmp_path: Path) -> Stage:
    return Stage(project, tmp_path)


# --- the way it should go ----------------------------------------------------------------------------------------


def test_it_asks_proposes_and_writes_what_was_agreed_on(stage: Stage) -> None:
    stage.plays(asks("With what?", "For whom?", choices=("a password", "a key")), proposes())
    with terminal("align", "Log in, please", columns=120) as screen:
        screen.answer(
            CONSENT,
            ("With what?\n  1  a password\n  2  a key\n(number, or your own words; Enter: the agent decides) > ", "2"),
            ("For whom?…) > ", "everybody with an account"),
            BUDGET,
        )
        screen.wait_for(LETTER)
        for told in (
            "Customers can log in",
            "why           They ask for it",
            "deliverables  A form",
            "protected     tests/**",
            "$ test -f form && sh form",
            "docs/login.md exists",
            "way: one of 2",
            "Log in by session",
            "a  agree: the commands above run now",
        ):
            assert told in screen.text, screen.text
        assert not STATE_FILE.exists()
        screen.type("a\n")
        assert screen.end() == 0
    assert "The base case fails now, as it should before the work." in screen.text
    assert "Next: aot gate  ·  aot run" in screen.text
    loop = loop_now()
    assert loop.objective.goal == "Customers can log in"
    assert [(one.id, one.depends_on, one.or_group, one.run, one.covers) for one in loop.atoms] == [
        ("A1", (), None, None, ("documented",)),
        ("A2", ("A1",), "way", None, ("tests pass",)),
        ("A3", ("A1",), "way", None, ("tests pass",)),
    ]
    assert loop.or_groups == {"way": OrGroup(choices=("A2", "A3"), selected="A2")}
    assert STATE_FILE.read_text().endswith("# Original Prompt\n\nLog in, please\n")
    assert stage.times_asked == 2


def test_the_agent_is_told_what_was_said_before(stage: Stage) -> None:
    """It answers with what it was told, as far as that is about the dialogue."""
    program = stage.agents / "echo.py"
    program.write_text(
        "import json, sys\ntold = [line for line in sys.stdin.read().splitlines() if line.startswith('> ')]\n"
        f"plan = json.loads({json.dumps(json.dumps(PLAN))})\n"
        "if 'goal: \"Customers' in ' '.join(told):\n    plan['goal'] = 'told: ' + ' '.join(told)[-100:]\n"
        "asked = any('With what' in line for line in told)\n"
        "question = {'question': 'With what?', 'choices': []}\n"
        "print(json.dumps({'questions': [] if asked else [question], 'plan': plan if asked else None}))\n"
    )
    (stage.project / "aot.toml").write_text(
        f'agent = "echo"\n[agents.echo]\nargv = ["python3", "{program}"]\nroles = ["planner"]\n'
    )
    with terminal("align", columns=120) as screen:
        screen.answer(
            CONSENT,
            ("What do you want to achieve? Use your own words.\n> ", ""),
            ("Write at least one sentence.\n> ", "Log in"),
            ("With what?…) > ", "a password"),
            BUDGET,
            (LETTER, CHANGE),
            ("What should be different? ", "rather by key"),
        )
        screen.wait_for(LETTER)
        assert "told: " in screen.text
        assert "rather by key" in screen.text
        screen.type("q\n")
        assert screen.end() == 1
    assert not STATE_FILE.exists()


def test_a_loop_that_exists_is_what_it_begins_from_and_what_was_done_stays(stage: Stage) -> None:
    loop = a_loop(atom("A1", status="resolved", description="Keep accounts"), atom("A2"), status="stopped")
    write_loop(stage.project, loop)
    form = {**ATOM, "name": "form", "description": "A form", "depends_on": ["A1"]}
    stage.plays(proposes(atoms=[{**PLAN["atoms"][0], "name": "A1"}, form]))
    with terminal("align") as screen:
        screen.answer(CONSENT, BUDGET, (LETTER, AGREE))
        assert screen.end() == 0
    assert "done already: A1" in screen.text
    now = loop_now()
    assert [(one.id, one.status, one.depends_on) for one in now.atoms] == [
        ("A1", "resolved", ()),
        ("A3", "pending", ("A1",)),
    ]
    assert now.control.status == "pending"


def test_an_imported_plan_stays_where_the_agent_proposes_no_other_work(stage: Stage) -> None:
    (stage.project / "plan.md").write_text("# A shop\n\n- [ ] shelves\n- [ ] goods\n")
    stage.plays(proposes(atoms=[]))
    with terminal("align", "--from", "plan.md") as screen:
        screen.answer(CONSENT, (COVERAGE, "A1=2"), BUDGET, (LETTER, AGREE))
        assert screen.end() == 0
    assert [one.covers for one in loop_now().atoms] == [("documented",), ()]
    assert [one.description for one in loop_now().atoms] == ["shelves", "goods"]


def test_a_request_may_be_a_file_of_words(stage: Stage) -> None:
    (stage.project / "PROMPT.md").write_text("\ufeffLog in.\n\nWith care.\n", encoding="utf-8")
    stage.plays(proposes())
    with terminal("align", "-f", "PROMPT.md") as screen:
        screen.answer(CONSENT, BUDGET, (LETTER, AGREE))
        assert screen.end() == 0
    assert STATE_FILE.read_text().endswith("# Original Prompt\n\nLog in.\n\nWith care.\n")
    (stage.project / "PROMPT.md").write_bytes(b"\xff")
    with terminal("align", "-f", "PROMPT.md") as screen:
        assert screen.end() == 2
    assert "the file is not valid UTF-8" in screen.text


def test_an_item_that_its_checklist_does_not_have_is_left_out_with_a_note(stage: Stage) -> None:
    odd = [{**one, "covers": ["tests pass", "it is magic"]} for one in PLAN["atoms"]]
    stage.plays(proposes(atoms=odd))
    with terminal("align", "Log in", columns=160) as screen:
        shown = screen.answer(CONSENT, BUDGET)
        assert "model is to cover it is magic, which its checklist does not have: left out" in shown
        screen.answer((LETTER, AGREE))
        assert screen.end() == 0
    assert {one.covers for one in loop_now().atoms} == {("tests pass",)}


def test_what_the_agent_says_nothing_about_is_asked_once(stage: Stage) -> None:
    stage.plays(proposes(atoms=[{**one, "covers": []} for one in PLAN["atoms"]]), proposes())
    with terminal("align", "Log in", columns=120) as screen:
        screen.answer(CONSENT, (COVERAGE, "A1=2 A2=1 A3=1"), (BUDGET[0], "20"), (LETTER, CHANGE))
        screen.answer(("What should be different? ", "more"), (LETTER, AGREE))  # neither is asked again
        assert screen.end() == 0
    assert [one.covers for one in loop_now().atoms] == [("documented",), ("tests pass",), ("tests pass",)]
    assert loop_now().objective.constraints.max_cost_usd == 20


# --- what may go wrong -------------------------------------------------------------------------------------------


def test_whoever_only_asks_is_not_asked_for_ever(stage: Stage) -> None:
    stage.plays(asks("And then?"))
    with terminal("align", "Log in") as screen:
        screen.answer(CONSENT)
        for _ in range(12):
            screen.answer(("And then?…) > ", "no idea"))
        screen.wait_for("A form asks for the rest.")
        screen.wait_for("now: Log in\n(Enter keeps it) > ")
        screen.type("\x03")
        assert screen.end() == 130
    assert stage.times_asked == 12 > MOST_QUESTION_ROUNDS
    assert not STATE_FILE.exists()


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ({"say": "I would rather talk"}, 'there is no JSON object with "questions"'),
        ({"answer": {"questions": [], "plan": None}}, "it neither asks nor proposes anything"),
        ({"exit": 75}, "asks to be tried later"),
        ({"exit": 1}, "exit 1 without an answer"),
    ],
    ids=["words", "nothing", "later", "crash"],
)
def test_an_answer_that_is_none_is_told_and_the_person_decides(stage: Stage, order: Order, told: str) -> None:
    stage.plays(order, proposes())
    question = "Try again [t], fill in a form instead [f], or leave [q]? "
    with terminal("align", "Log in", columns=120) as screen:
        screen.answer(CONSENT)
        assert told in screen.answer((question, "t"))
        screen.answer(BUDGET, (LETTER, LEAVE))
        assert screen.end() == 1
    assert stage.times_asked == 2
    stage.plays(order)
    for way, code in (("q", 1), ("f", 130)):
        with terminal("align", "Log in", columns=120) as screen:
            screen.answer((question, way))
            if way == "f":
                screen.wait_for("What do you want to achieve, in one sentence?")
                screen.type("\x03")
            assert screen.end() == code
    assert not STATE_FILE.exists()


def test_what_the_agent_says_cannot_steer_the_terminal(stage: Stage) -> None:
    checks = [{"item": "x\x1b[2J", "type": "command", "value": "echo \x1b]0;title\x07 || true"}]
    stage.plays({**asks("What\x1b[2J?"), "say": "\x1b[2Jlooking"}, proposes(goal="G\x1b[2J", checklist=checks))
    with terminal("align", "Log in") as screen:
        screen.answer(CONSENT)
        shown = screen.answer(("What?…) > ", ""), (COVERAGE, ""), BUDGET)
        screen.wait_for(LETTER)
        shown += screen.shown
        screen.type("q\n")
        assert screen.end() == 1
    assert "\x1b[2J" not in shown
    assert "\x1b]0" not in shown
    assert "looking" in shown
    assert '"questions"' not in shown  # the answer itself is shown as what it says


def test_an_agent_that_writes_is_kept_from_it_or_told_of(stage: Stage) -> None:
    for more, is_there in (("", False), ('confine = "off"', True)):
        stage.plays({**proposes(), "run": "touch planted"}, more=more)
        with terminal("align", "Log in") as screen:
            screen.answer(CONSENT)
            screen.wait_for_prompt(BUDGET[0])
            told = "These files in your checkout changed while the agent looked: planted" in screen.text
            screen.answer(BUDGET, (LETTER, LEAVE))
            assert screen.end() == 1
        assert ((stage.project / "planted").exists(), told) == (is_there, is_there)


def hangs(stage: Stage) -> Path:
    begun = stage.agents / "begun"
    begun.touch()
    stage.plays({"append": {str(begun): "x"}, "hang": True})
    return begun


def test_ctrl_c_while_it_works_ends_it_and_writes_nothing(stage: Stage) -> None:
    begun = hangs(stage)
    with terminal("align", "Log in") as screen:
        screen.answer(CONSENT)
        screen.wait_for("scripted looks at the project …")
        while not begun.read_text():
            assert screen_is_alive(screen)
        screen.type("\x03")
        assert screen.end() == 130
    assert not STATE_FILE.exists()
    assert processes_with(str(stage.agents / "scripted.py")) == []


def screen_is_alive(screen: Terminal) -> bool:
    return screen._process.poll() is None


# --- who leads it ------------------------------------------------------------------------------------------------


def test_an_agent_that_was_named_has_to_be_there(stage: Stage) -> None:
    with terminal("align", "--agent", "nobody", "Log in") as screen:
        assert screen.end() == 1
    assert "there is no agent 'nobody'" in screen.text
    (stage.project / "aot.toml").write_text(
        'agent = "gone"\n[agents.gone]\nargv = ["no-such-program"]\nroles = ["planner"]\n'
    )
    with terminal("align", "Log in", columns=120) as screen:
        shown = screen.answer(CONSENT, ("now: Log in\n(Enter keeps it) > ", ""))
        assert "so a form asks the questions." in shown
        screen.type("\x03")
        assert screen.end() == 130


def test_a_program_of_which_nobody_says_that_it_plans_is_not_asked(stage: Stage) -> None:
    (stage.project / "aot.toml").write_text('agent = "mine"\n[agents.mine]\nargv = ["no-such-program"]\n')
    with terminal("align", "Log in", columns=200) as screen:
        shown = screen.answer(("now: Log in\n(Enter keeps it) > ", ""))
        assert "The agent mine does not plan, so a form asks the questions." in shown
        screen.type("\x03")
        assert screen.end() == 130


def test_without_consent_to_the_configuration_no_agent_is_started(stage: Stage) -> None:
    stage.plays(proposes())
    with terminal("align", "Log in") as screen:
        screen.answer((CONSENT[0], "n"))
        assert screen.end() == 1
    assert stage.times_asked == 0


# --- real clients ------------------------------------------------------------------------------------------------


@most_clients
def test_a_real_client_looks_asks_and_proposes_and_changes_nothing(stage: Stage, client: str) -> None:
    (stage.project / "README.md").write_text("a shop\n")
    (stage.project / "aot.toml").write_text(config_of(client))
    tries = [write(client, stage.project / "README.md", "x"), shell(client, "touch planted; echo x >> README.md")]
    turns: list[Call | Answer] = [*tries, Answer(asks("With what?", choices=("a key",))["answer"])]
    more: list[Call | Answer] = [Answer(proposes()["answer"])]
    with ModelServer([Script("a key", more), Script("Log in, please", turns)]) as server:
        with terminal("align", "Log in, please", columns=120, environ=environ_of(client, server)) as screen:
            screen.answer(CONSENT, ("With what?…) > ", "1"), BUDGET, (LETTER, AGREE))
            assert screen.end() == 0, screen.text
        assert server.lost == []
    assert (stage.project / "README.md").read_text() == "a shop\n"
    assert not (stage.project / "planted").exists()
    assert loop_now().objective.goal == "Customers can log in"
