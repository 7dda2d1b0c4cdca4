"""What a person types about shipping: understood only as it was typed, noted down for scripts, counted once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.app.session.typed_approvals import shown_tests, word_for
from aotloop.hooks.answers import Context
from aotloop.hooks.payload import Payload
from aotloop.hooks.phases.phase_entry import follow_prompt
from aotloop.hooks.phases.phase_prompt import Circumstances, Decision, decide
from aotloop.hooks.phases.typed_commands import Wish, command_in, wish_in
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.statefile.reader import decode
from aotloop.trust import human_approvals
from tests.git.checkouts import write
from tests.hooks.features import TESTS, a_feature, repository, shipping, with_tests
from tests.hooks.shim import quick
from tests.hooks.situations import SESSION, driven
from tests.loops import write_loop

NOW = Circumstances(at="2026-01-02T00:00:00Z")

PROMPTS = pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("/aot-loop:ship Add login", ("ship", "Add login")),
        ("/ship", ("ship", "")),
        ("  /ship\nAdd login\nwith a form", ("ship", "Add login\nwith a form")),
        ("$aot-loop:source-command-ship approve", ("ship", "approve")),
        ("$source-command-ship-cancel enough", ("ship-cancel", "enough")),
        ("/aot-loop:ship-status", ("ship-status", "")),
        ("/shipping", None),
        ("/other:ship x", None),
        ("ship it", None),
        ("please /ship it", None),
        ("<task-notification>/ship approve</task-notification>", None),
        ("", None),
    ],
)


@PROMPTS
def test_only_the_command_as_it_was_typed_is_one(prompt: str, command: tuple[str, str] | None) -> None:
    assert command_in(prompt) == command


@PROMPTS
def test_the_shim_lets_through_the_same(prompt: str, command: tuple[str, str] | None) -> None:
    shim = quick()
    found = shim.command_in(prompt)
    assert (found if shim.COMMANDS.get(found) == shim.PHASE_FILE else None) == (command[0] if command else None)


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("", Wish(kind="go on")),
        ("Add login", Wish(kind="begin", text="Add login")),
        ('"Add login"', Wish(kind="begin", text="Add login")),
        ("approve buttons", Wish(kind="begin", text="approve buttons")),
        ("approve", Wish(kind="go on")),
        ("resume", Wish(kind="go on")),
        ("--skip-brainstorm Add login", Wish(kind="begin", text="Add login", options={"skip-brainstorm": True})),
        (
            "Add the user's login --budget-usd 2.5 --max-iterations=9 --completion-promise 'IT IS OUT'",
            Wish(
                kind="begin",
                text="Add the user's login",
                options={"budget-usd": 2.5, "max-iterations": 9, "completion-promise": "IT IS OUT"},
            ),
        ),
        ("Add --verbose to run", Wish(kind="begin", text="Add --verbose to run")),
        ("x --max-iterations many", Wish(kind="begin", text="x", mistake="--max-iterations cannot be 'many'")),
    ],
)
def test_without_a_loop_words_are_a_feature(words: str, wish: Wish) -> None:
    assert wish_in(words, None) == wish
    assert wish_in(words, a_feature(status="completed")) == wish


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("", Wish(kind="go on")),
        ("take-over", Wish(kind="take-over")),
        ("approve", Wish(kind="approve")),
        ("approve buttons", Wish(kind="begin", text="approve buttons")),
        ("refuse they test nothing", Wish(kind="refuse", text="they test nothing")),
        ("advance", Wish(kind="advance")),
        ("resume --max-iterations 80", Wish(kind="resume", options={"max-iterations": 80})),
        ("accept 0123abcd", Wish(kind="accept", text="0123abcd")),
        ("refuse\n- they test nothing", Wish(kind="refuse", text="- they test nothing")),
        ("resume\t--max-iterations 80", Wish(kind="resume", options={"max-iterations": 80})),
    ],
)
def test_with_a_loop_the_first_word_decides_about_it(words: str, wish: Wish) -> None:
    assert wish_in(words, a_feature()) == wish


# --- what follows ------------------------------------------------------------------------------------------------


def payload(project: Path, prompt: str, **more: Any) -> Payload:
    return Payload(**{"session_id": SESSION, "cwd": str(project), "prompt": prompt, **more})


def asked(store: PhaseStore | None, project: Path, prompt: str, now: Circumstances = NOW, **more: Any) -> str:
    answer = follow_prompt(payload(project, prompt, **more), store, now)
    return answer.text if isinstance(answer, Context) else ""


def test_a_feature_and_its_options_are_noted_down_for_this_session(project: Path) -> None:
    assert SESSION in asked(None, project, "/ship Add login --skip-test-review")
    word = word_for("begin", SESSION, str(project / ".claude" / "autonomous-loop.json"))
    assert word is not None
    assert (word.text, word.options) == ("Add login", {"skip-test-review": True})
    assert word_for("begin", "another", str(project / ".claude" / "x")) is None
    assert word_for("begin", SESSION, str(project / "below" / ".claude" / "x")) is None, "said in another folder"


@pytest.mark.parametrize("more", [{"agent_type": "aot-loop:worker"}, {"agent_type": ""}, {"session_id": ""}])
def test_agents_say_nothing_for_the_person(project: Path, more: dict[str, Any]) -> None:
    repository(project)
    store = shipping(project, phase="spec_test", status="waiting", **with_tests(project))
    assert decide(payload(project, "/ship approve", **more), store.load(), NOW) == Decision()
    assert human_approvals.approval_of("approve", SESSION) is None


def test_an_approval_is_of_the_tests_as_they_are(project: Path) -> None:
    repository(project)
    store = shipping(project, phase="spec_test", status="waiting", **with_tests(project))
    assert "has approved" in asked(store, project, "/ship approve")
    word = human_approvals.approval_of("approve", SESSION)
    assert word is not None
    assert word.about == shown_tests(store.path, store.load())
    write(project, {TESTS: "true\n"})
    assert word.about != shown_tests(store.path, store.load())


def test_where_nothing_waits_there_is_nothing_to_approve(project: Path) -> None:
    assert "Nothing waits" in asked(shipping(project), project, "/ship approve")
    assert human_approvals.approval_of("approve", SESSION) is None


def test_a_loop_of_nobody_goes_on_here(project: Path) -> None:
    store = shipping(project, session_id=None)
    assert "drives the loop" in asked(store, project, "/ship")
    assert store.load().session_id == SESSION


def test_a_loop_of_another_session_stays_there_unless_the_person_takes_it_over(project: Path) -> None:
    store = shipping(project, session_id="another")
    assert "`/aot-loop:ship take-over`" in asked(store, project, "/ship")
    assert "`$aot-loop:source-command-ship take-over`" in asked(store, project, "/ship", turn_id="t")
    assert store.load().session_id == "another"
    asked(store, project, "/ship take-over")
    assert store.load().session_id == SESSION


def test_to_go_on_with_a_loop_that_stopped_is_to_resume_it(project: Path) -> None:
    store = shipping(project, status="stopped", session_id="another")
    assert "`ship.py resume`" in asked(store, project, "/ship")
    assert human_approvals.approval_of("resume", SESSION) is not None
    assert store.load().status == "stopped", "the script resumes it"


def test_while_a_feature_is_under_way_no_other_is_noted_down_for_later(project: Path) -> None:
    store = shipping(project, session_id=None)
    assert "in progress" in asked(store, project, "/ship approve, please")
    assert human_approvals.approval_of("begin", SESSION) is None


def test_while_aot_ship_runs_the_loop_nothing_is_noted(project: Path) -> None:
    store = shipping(project, session_id=None)
    elsewhere = Circumstances(at="now", is_run_elsewhere=True)
    assert "in a terminal" in asked(store, project, "/ship", elsewhere)
    assert store.load().session_id is None


@pytest.mark.parametrize(("holder", "status"), [(SESSION, "cancelled"), (None, "cancelled"), ("another", "running")])
def test_to_cancel_is_done_at_once_unless_it_is_another_session_s(
    project: Path, holder: str | None, status: str
) -> None:
    store = shipping(project, session_id=holder)
    assert asked(store, project, "/aot-loop:ship-cancel enough of it")
    loop = store.load()
    assert loop.status == status
    assert loop.stop_reason == ("user: enough of it" if status == "cancelled" else None)


@pytest.mark.parametrize(
    ("goal", "holder", "is_asked"),
    [("Greet people", SESSION, True), ("Greet people", "another", False), ("Something else", SESSION, False)],
)
def test_with_the_feature_the_loop_of_its_work_is_given_up(
    project: Path, goal: str, holder: str, is_asked: bool
) -> None:
    store = shipping(project, phase="work")
    work = driven(session_id=holder)
    work.objective = replace(work.objective, goal=goal)
    path = write_loop(project, work)
    asked(store, project, "/ship-cancel")
    assert decode(path.read_bytes()).control.stop_requested is is_asked


def test_without_a_loop_there_is_nothing_to_go_on_with_or_to_cancel(project: Path) -> None:
    assert "which feature" in asked(None, project, "/ship")
    assert "no loop" in asked(None, project, "/ship-cancel")
    over = shipping(project, status="completed")
    assert "which feature" in asked(over, project, "/ship")
    assert decide(payload(project, "/ship-status"), over.load(), NOW) == Decision()


def test_a_home_that_cannot_be_written_to_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(project / "file"))
    assert "cannot be remembered" in asked(None, project, "/ship Add login")
