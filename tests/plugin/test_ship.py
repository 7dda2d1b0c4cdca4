"""A feature shipped inside of the real clients, through the Stop hook: what counts, and what is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.phases.model import PHASES, Checkpoint, PhaseLoop
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.trust.accepted_commands import trust
from tests.git.checkouts import write
from tests.hooks.features import DOCUMENTS, LONG_AGO, TESTS, committed, shipping, with_tests
from tests.hooks.situations import SESSION
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude, needs_codex
from tests.modelserver.script import Step
from tests.plugin.codex_stage import UNTRUSTED_TOO, CodexStage
from tests.plugin.stage import Stage, is_session
from tests.plugin.talking import Line, has_ended_a_turn
from tests.plugin.test_hooks_live import our_hooks
from tests.plugin.test_session import PLUGIN, bash, script
from tests.plugin.tokens import token_in

PROMISE = Say("It is out. <promise>SHIPPED</promise>")
FEEDBACK = "Stop hook feedback:\n"


@pytest.fixture
def stage(tmp_path: Path, own_home: Path) -> Stage:
    return Stage(tmp_path / "stage", own_home)


def loop_of(project: Path) -> PhaseLoop:
    return PhaseStore(str(project / ".claude" / "autonomous-loop.json")).load()


def ship(*words: str) -> str:
    return script("ship", *words)


def written(path: str, content: str) -> str:
    return f"mkdir -p {Path(path).parent} && printf '%s' '{content}' > {path} && git add {path} && git commit -qm x"


def filed(*phases: str) -> str:
    """Each of them is done as it should be."""
    steps = []
    for phase in phases:
        path, content = DOCUMENTS[phase]
        steps += [written(path, content), ship("receipt", "--artifact", path, "--summary", f"'did {phase}'")]
    return " && ".join(steps)


def answers(result: str) -> list[dict[str, Any]]:
    """What the script said, one line for each call."""
    return [json.loads(line) for line in result.splitlines() if line.startswith("{")]


@needs_claude
def test_a_feature_from_an_idea_to_being_shipped_in_one_session(stage: Stage) -> None:
    tampered = written(TESTS, "true\n")
    mended = written(TESTS, DOCUMENTS["spec_test"][1])
    work = DOCUMENTS["work"][0]
    session = [
        bash(f"{ship('begin')} && {filed('brainstorm')}"),
        PROMISE,
        bash(ship("receipt", "--artifact", "docs/plan.md", "--sha", "f" * 40)),
        bash(filed("plan", "spec_test")),
        bash(ship("approve")),
        Say("Please look at the tests."),
        bash(f"{ship('approve')} && {filed('deepen')}"),
        Call(tool("Write", file_path=str(stage.project / TESTS), content="true\n")),
        bash(f"{tampered} && {written(*DOCUMENTS['work'])} && {ship('receipt', '--artifact', work)}"),
        bash(f"{mended} && {ship('receipt', '--artifact', work)}"),
        bash(filed(*PHASES[PHASES.index("review") :])),
        PROMISE,
    ]
    approve = Line(text="/aot-loop:ship approve", once=has_ended_a_turn)
    with ModelServer([Script(is_session, session)]) as server:
        run = stage.talk(server, "/aot-loop:ship Greet people --no-graph", approve, plugins=[PLUGIN])
        assert server.lost == []
        exchange = server.played[-1].exchange
    begun, forged, planned, unasked, approved, denied, refused, mended_, rest = exchange.results
    assert [one["phase"] for one in answers(begun)] == ["brainstorm", "plan"]
    (told,) = [text for text in exchange.texts if text.startswith(FEEDBACK)]
    assert "the promise counts only in ship, and the loop is in plan" in told
    assert "is not part of what is checked out" in forged
    assert [one["status"] for one in answers(planned)] == ["running", "waiting"]
    assert "only the person can say that" in unasked
    assert [one["phase"] for one in answers(approved)] == ["deepen", "work"]
    assert denied.startswith(f"PreToolUse:Write hook error: {TESTS} belongs to the acceptance tests")
    assert "were changed since spec_test" in refused
    assert answers(mended_)[-1]["phase"] == "review"
    assert [one["phase"] for one in answers(rest)] == [*PHASES[PHASES.index("fix") :], "ship"]

    loop = loop_of(stage.project)
    assert (run.code, loop.status, loop.session_id) == (0, "completed", run.session)
    assert (loop.feature, loop.phases_completed, loop.global_iteration) == ("Greet people", PHASES, 1)
    persons = [one["content"] for one in run.of("informational")]
    assert "`/aot-loop:ship approve`" in persons[1]
    assert "Shipped: Greet people" in persons[-1]
    assert len(run.told("Stop")) == 3


def driven(stage: Stage, **more: Any) -> PhaseStore:
    """A loop that a session has which has not begun yet."""
    (stage.project / ".claude").mkdir()
    return shipping(stage.project, **more)


@needs_claude
def test_a_session_that_was_compacted_in_work_goes_on_from_its_checkpoints(stage: Stage) -> None:
    point = Checkpoint(phase="plan", summary="two steps", failed_approaches=("by mail",), timestamp=LONG_AGO)
    store = driven(stage, phase="work", status="stopped", checkpoints=(point,), **with_tests(stage.project))
    with ModelServer([Script(".", [Say("hello")])]) as server:
        begun = stage.run(server, "hello", "--session-id", SESSION, plugins=[PLUGIN])
        assert b"A feature is on its way" not in server.played[0].request.body
    store.update(lambda loop: (replace(loop, status="running"), None))

    with ModelServer([Script(".", [Say("the summary")])]) as server:
        stage.run(server, "/compact", plugins=[PLUGIN], resume=begun.session)
        assert b"Keep in the summary that this session ships a feature" in server.played[0].request.body
    with ModelServer([Script(".", [Say("Where was I?"), bash(ship("cancel")), Say("ended")])]) as server:
        stage.run(server, "go on", plugins=[PLUGIN], resume=begun.session)
        assert server.lost == []
        text = json.dumps(json.loads(server.played[0].request.body)["messages"])
        told = [one for one in server.played[1].exchange.texts if one.startswith(FEEDBACK)]
    anchor = text.partition("the summary")[2]
    for words in ("Phase: work (5 of 11)", "plan: two steps", "by mail", "ship.py status"):
        assert words in anchor
    assert "Build the feature" in told[0]
    assert (store.load().status, store.load().global_iteration) == ("cancelled", 1)


@needs_claude
def test_the_work_is_a_loop_of_its_own_and_when_it_is_completed_the_phase_goes_on(stage: Stage) -> None:
    tests = with_tests(stage.project)
    write(stage.project, {"docs/plan.md": "- [ ] S1: write the greeting in `hello.txt`\n"})
    committed(stage.project, "plan")
    artifacts = replace(tests["artifacts"], plan_file="docs/plan.md")
    store = driven(stage, phase="work", no_graph=False, **{**tests, "artifacts": artifacts})
    trust(store.path, [f"sh {TESTS}"])

    def integrated(exchange: Exchange) -> Call:
        words = ("--token", token_in(exchange, "A1"), "--in-place", "--summary", "done")
        return bash(script("integrate", "A1", *words))

    session: list[Step] = [
        bash(f"{ship('work')} && {script('enter_loop')}"),
        bash(f"{script('update_atom', 'A1', 'in_progress')} && echo hello > hello.txt"),
        integrated,
        Say("A1 is done"),
        bash(script("verify_checklist")),
        Say("verified"),
        bash(f"{ship('receipt', '--artifact', 'hello.txt')} && {ship('cancel')}"),
        Say("ended"),
    ]
    with ModelServer([Script(is_session, session)]) as server:
        run = stage.run(server, "go on", "--session-id", SESSION, plugins=[PLUGIN])
        assert server.lost == []
        exchange = server.played[-1].exchange
    verify, file = [text.removeprefix(FEEDBACK) for text in exchange.texts if text.startswith(FEEDBACK)]
    assert verify.startswith("Verify now")
    assert file.startswith("The loop is completed: the base case holds")
    assert "skills/phase-loop/scripts/ship.py receipt" in file
    (filed_, cancelled) = answers(exchange.results[-1])
    assert (filed_["phase"], filed_["tests"]["passed"], cancelled["status"]) == ("review", True, "cancelled")
    assert (run.said, store.load().global_iteration) == ("ended", 1), "turns of the work are counted by its own loop"


@needs_claude
@pytest.mark.parametrize("content", [None, b'{"version": 2, "session_id": "%s", ' % SESSION.encode()])
def test_a_second_session_and_one_whose_file_is_broken_are_left_alone(stage: Stage, content: bytes | None) -> None:
    store = driven(stage, session_id="another")
    path = Path(store.path)
    if content is not None:
        path.write_bytes(content)
    before = path.read_bytes()
    with ModelServer([Script(is_session, [bash("touch a.txt"), PROMISE])]) as server:
        run = stage.run(server, "hello", "--session-id", SESSION, plugins=[PLUGIN])
        assert server.lost == []
    assert (run.code, run.said, len(run.told("Stop"))) == (0, PROMISE.text, 1)
    assert run.of("informational") == []
    assert path.read_bytes() == before


@needs_claude
def test_what_the_person_cancels_is_over_whatever_the_model_does_and_nothing_begins_again(stage: Stage) -> None:
    store = driven(stage)
    with ModelServer([Script(is_session, [Say("I would rather not.")])]) as server:
        run = stage.run(server, "/aot-loop:ship-cancel enough", "--session-id", SESSION, plugins=[PLUGIN])
        assert server.lost == []
    assert (run.code, len(run.told("Stop"))) == (0, 1)
    assert (store.load().status, store.load().stop_reason) == ("cancelled", "user: enough")
    before = Path(store.path).read_bytes()
    with ModelServer([Script(is_session, [PROMISE])]) as server:
        again = stage.run(server, "hello", plugins=[PLUGIN], resume=run.session)
        assert server.lost == []
    assert (len(again.told("Stop")), again.of("informational")) == (1, [])
    assert Path(store.path).read_bytes() == before


@needs_codex
def test_codex_ships_a_feature_too(tmp_path: Path, own_home: Path) -> None:
    stage = CodexStage(tmp_path / "stage", own_home)
    folder = own_home / "codex"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hooks.json").write_text(json.dumps(our_hooks()))

    def shell(command: str) -> Call:
        return Call(tool("exec_command", cmd=command, yield_time_ms=30_000))

    # Codex hands a call over unfinished after 30 seconds, however long it may take: each one waits for that before it.
    steps = [f"{ship('begin')} && {filed('plan')}", *map(filed, PHASES[PHASES.index("spec_test") :])]
    done = [tmp_path / f"done-{number}" for number in range(len(steps))]
    waits = [f"until test -e {path}; do sleep 0.1; done" for path in done]
    first, *others = [f"{step}; touch {path}" for step, path in zip(steps, done, strict=True)]
    turns = [
        shell(first),
        shell(waits[0]),
        Say("Is that all?"),
        *(shell(f"{wait}; {step}") for wait, step in zip(waits, others, strict=False)),
        *[shell(waits[-1])] * 4,
        *[PROMISE] * 3,  # on a busy machine the client may ask for it once more; what counts is what is shipped
    ]
    options = "--no-graph --skip-brainstorm --skip-test-review"
    with ModelServer([Script("source-command-ship", turns)]) as server:
        run = stage.run(server, f"$aot-loop:source-command-ship Greet people {options}", UNTRUSTED_TOO)
        assert server.lost == []
        exchange = server.played[-1].exchange
    loop = loop_of(stage.project)
    assert any("Write the acceptance tests" in text for text in exchange.texts)
    assert (run.code, loop.status, loop.session_id) == (0, "completed", run.session), exchange.results
    assert (loop.phases_completed, loop.global_iteration) == (PHASES[1:], 1)
    assert loop.skip_test_review, "the person typed it"
